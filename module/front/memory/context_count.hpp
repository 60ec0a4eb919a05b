#pragma once

#include <atomic>
#include <cstdint>

#include "module/front/base/waiting.hpp"
#include "module/front/contexts/set_aside_memory.hpp"
#include "module/front/driver/cuda_abi.hpp"

namespace cgpu::front {

/// How many contexts the process has on one GPU, with what they cost the instance set aside before they are
/// made.
class ContextCount {
  public:
    constexpr ContextCount() = default;

    /// A context that is being made.
    struct Making {
        SetAsideMemory aside;
        bool first = false;  ///< others wait for its outcome
    };
    /// Before a context is made. kSuccess or kOutOfMemory. Several threads may retain the primary one at once
    /// and get one context, so where there is none yet the first asks and the others wait for what comes of
    /// it.
    CUresult before_create(int gpu, bool primary, Making& making);
    /// How that went.
    void after_create(const Making& making, bool created);
    /// A context that was made past the hooks.
    void adopt();
    void destroyed();

    void reset_in_child();

  private:
    enum State : std::uint32_t { kNone, kMaking, kHeld };
    bool enter(bool& first);
    void leave_first(bool made);
    void leave();

    Mutex mutex_;
    int count_ = 0;  ///< made and being made
    std::atomic<std::uint32_t> state_{kNone};
    std::uint32_t gpu_ = 0;
    friend ContextCount& context_count(int gpu);
};

ContextCount& context_count(int gpu);

}  // namespace cgpu::front
