#pragma once

#include <algorithm>
#include <utility>

#include "core/schedule/base/nanos.hpp"

namespace cgpu::schedule {

/// What several processes of an instance had of a GPU together. Each of them measures the time of the others,
/// too, so it is no more than the time in which any of them could run. How their times overlap nobody knows,
/// so that is the better known the more often it is asked.
class CommonUse {
  public:
    /// What the processes have measured since the last call of believed(), and what else is known of them.
    struct Measured {
        Nanos fresh = 0;          ///< the sum
        bool several = false;     ///< more than one has measured something, or launches
        bool gate_open = false;   ///< since the last call
        bool active = false;      ///< work is in flight now
        Nanos oldest_start = 0;   ///< since when the oldest of it may run
        Nanos first_seen_at = 0;  ///< the first of them
    };

    /// Returns how much of it the instance had. One process is believed: its own figure is bounded already.
    Nanos believed(const Measured& measured, Nanos now) {
        const Nanos since = asked_at_ != 0 ? asked_at_ : measured.first_seen_at;
        if (measured.gate_open || was_active_) believable_ += std::max<Nanos>(0, now - since);
        Nanos fresh = measured.fresh;
        // Who is left of several has measured the time of who has gone.
        if (std::exchange(were_several_, measured.several) || measured.several)
            fresh = std::min(fresh, believable_);
        // What is measured later may be of before now, if it has begun.
        const Nanos unmeasured = measured.active ? now - measured.oldest_start : 0;
        believable_ = std::max<Nanos>(0, std::min(believable_ - fresh, unmeasured));
        was_active_ = measured.active;
        asked_at_ = now;
        return fresh;
    }

  private:
    Nanos asked_at_ = 0;  ///< 0: not yet
    Nanos believable_ = 0;
    bool was_active_ = false;
    bool were_several_ = false;
};

}  // namespace cgpu::schedule
