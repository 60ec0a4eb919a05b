#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "module/front/base/waiting.hpp"
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

/// How long an open batch may be without launches before it is closed, and so the interval of the looks at
/// open batches. The end of a batch is urgent only if somebody waits for it. Without that a longer interval
/// means fewer wake-ups, each of which interrupts one of the program's threads for some 17 µs.
inline std::int64_t idle_before_close(int gpu) { return awaits_drain(gpu) ? kMillisecond : 4 * kMillisecond; }

}  // namespace cgpu::front
