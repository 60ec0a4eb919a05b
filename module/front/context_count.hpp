#pragma once

#include <atomic>
#include <cstdint>

#include "module/front/cuda_abi.hpp"
#include "module/front/waiting.hpp"

namespace cgpu::front {

/// How many contexts the process has on one GPU. The first costs the instance device memory that nobody can
/// name before the call: the daemon reserves an estimate and corrects it by the driver's figure when told
/// that the context exists.
class ContextCount {
  public:
    constexpr ContextCount() = default;

    /// Before a context is made. Several threads may come at once: the first asks, the others wait for its
    /// outcome. kSuccess or kOutOfMemory.
    CUresult before_create(int gpu);
    /// How that went.
    void after_create(bool created);
    /// A context that was made past the hooks.
    void adopt();
    void destroyed();

    void reset_in_child();

  private:
    enum State : std::uint32_t { kNone, kAsking, kHeld };
    bool ask_daemon(std::int64_t until_ns);
    void leave();

    Mutex mutex_;
    int count_ = 0;  ///< made and being made
    std::atomic<std::uint32_t> state_{kNone};
    std::uint32_t gpu_ = 0;
    friend ContextCount& context_count(int gpu);
};

ContextCount& context_count(int gpu);

/// Stands in the engine for "whatever context this GPU has": what memory of its default pool belongs to.
/// (Contexts are addresses, so the small numbers are free.)
inline std::uint64_t any_context_key(int gpu) { return static_cast<std::uint64_t>(gpu) + 1; }

}  // namespace cgpu::front
