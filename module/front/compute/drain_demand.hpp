#pragma once

#include <array>
#include <atomic>

#include "module/front/session/session.hpp"

namespace cgpu::front {

/// Threads that wait at each GPU's gate.
inline constinit std::array<std::atomic<std::uint32_t>, wire::kMaxGpus> held_threads{};

/// Whether another instance, or a thread at the GPU's gate, waits for the launched work to end.
inline bool awaits_drain(int gpu) {
    const wire::Gate& gate = session().pages().orders()->gates[gpu];
    return gate.contended.load(std::memory_order_relaxed) != 0 ||
           held_threads[static_cast<std::size_t>(gpu)].load() > 0;
}

}  // namespace cgpu::front
