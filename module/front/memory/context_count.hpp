#pragma once

#include <atomic>
#include <cstdint>

#include "module/front/base/waiting.hpp"
#include "module/front/contexts/set_aside_memory.hpp"
#include "module/front/driver/cuda_abi.hpp"

namespace cgpu::front {

/// The number of the process's contexts on one GPU. Sets aside their memory from the instance's before they
/// are made.
class ContextCount {
  public:
    explicit constexpr ContextCount(std::uint32_t gpu) : gpu_(gpu) {}

    /// A context that is being made.
    struct Making {
        SetAsideMemory aside;
        bool first = false;  ///< others wait for its outcome
    };
    /// Call before a context is made. kSuccess or kOutOfMemory. Several threads may retain the primary
    /// context at once and get one context, so if there is none yet, the first thread asks and the others
    /// wait for the outcome.
    CUresult before_create(int gpu, bool primary, Making& making);
    /// Reports the outcome.
    void after_create(const Making& making, bool created);
    /// A context that was made without a hook.
    void adopt();
    void destroyed();

    void reset_in_child();

  private:
    enum State : std::uint32_t { kNone, kMaking, kHeld };
    bool enter(bool& first);
    void leave_first(bool made);
    void leave();

    const std::uint32_t gpu_;
    Mutex mutex_;
    int count_ = 0;  ///< made and being made
    std::atomic<std::uint32_t> state_{kNone};
};

ContextCount& context_count(int gpu);

}  // namespace cgpu::front
