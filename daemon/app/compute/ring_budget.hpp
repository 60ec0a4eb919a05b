#pragma once

#include <cstddef>

#include "core/schedule/base/nanos.hpp"

namespace cgpu::app {

/// Rate limit for one instance's doorbell. A tenant can write to its doorbell at will, and each ring that
/// wakes the slicer costs a step. An instance that exceeds its budget is polled instead of being waited on,
/// so its events are seen a few milliseconds late at most. No clock: times are the caller's, in nanoseconds,
/// and never go back.
class RingBudget {
  public:
    /// The rate that is always accepted is one ring in this time for each GPU of the instance. An honest
    /// instance rings about twice for each turn on each of its GPUs; with slices of 1 ms and two instances
    /// that is 1000 times a second.
    static constexpr schedule::Nanos kEvery = 500 * schedule::kMicro;
    /// A burst of this many for each GPU is accepted, too: the processes of one instance ring one after the
    /// other.
    static constexpr int kBurst = 32;
    /// Poll interval of an instance over its budget. All such instances are polled at the same moments, or
    /// each would cost steps of its own …
    static constexpr schedule::Nanos kLookEvery = schedule::kMilli;
    /// … and the interval, with rings that cost kDearer times as much, for an instance that exceeded its
    /// budget kPatience times without having been quiet for kForget in between. No turn lasts longer because
    /// of it: turns end by the clock, and while a turn drains the slicer polls by itself.
    static constexpr schedule::Nanos kLookSeldomEvery = 4 * schedule::kMilli;
    static constexpr int kPatience = 16;
    static constexpr int kDearer = 4;
    static constexpr schedule::Nanos kForget = schedule::kSecond;
    /// A wake without a ring counts as this many rings. An honest process causes one only if a step falls
    /// between the two halves of ringing.
    static constexpr int kWakeOnly = 4;

    /// An instance on `gpus` GPUs (0 counts as 1) has rung `times` as of `now`. Rings during the polling
    /// period do not refill the budget.
    void rung(schedule::Nanos now, std::size_t gpus = 1, int times = 1);
    /// Whether to wait on the doorbell from `now` on. After an instance exceeded its budget, the slicer waits
    /// on it again when half of the burst has been refilled.
    [[nodiscard]] bool listens(schedule::Nanos now);
    /// When to poll an instance over its budget; later than `now`.
    [[nodiscard]] schedule::Nanos look_at(schedule::Nanos now) const {
        const auto every = found_loud_ < kPatience ? kLookEvery : kLookSeldomEvery;
        return (now / every + 1) * every;
    }

  private:
    schedule::Nanos paid_at_ = 0;  ///< when the budget for all rings so far is refilled
    bool too_loud_ = false;
    int found_loud_ = 0;  ///< how often, up to kPatience
};

}  // namespace cgpu::app
