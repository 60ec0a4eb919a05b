#pragma once

#include <array>

#include "core/schedule/base/nanos.hpp"

namespace cgpu::schedule {

/// Work that is still in flight after its instance's turn was handed over: the last 100 µs of an early
/// hand-over, or a kernel that passed its drain deadline, or one overtaken by high priority.
///
/// What is measured of such work includes the slices the driver gave to the next holder meanwhile. So it is
/// charged by what was predicted as the time goes by, and when it has drained the sum is put within what the
/// measurement allows: no more than measured, no less than measured minus the time for which it was
/// undrained.
class UndrainedWork {
  public:
    using Charges = std::array<Nanos, kSlots>;

    /// What is left at the end of a turn.
    struct Remains {
        Nanos remaining;   ///< predicted to run on
        Nanos paid;        ///< charged already of what isn't measured yet
        Nanos refundable;  ///< what of that may be paid back
        Nanos others;  ///< time of the turn that other undrained work took, and that its measurement includes
        bool measured_counts;  ///< its measurement is a union of intervals
    };
    /// The driver lets the old context run until that one's slice is over. From then on the contexts
    /// alternate. So work that isn't done when predicted may only be waiting for the next holder's slice to
    /// pass, and its end still has to be reported. That time is the other's. What comes beyond it is the
    /// work's own, until that is half of all. It is charged up to `most_overrun`: the debt must not grow for
    /// ever, because the kernel may be waiting for one of its own instance that is held at the gate.
    struct Limits {
        Nanos driver_slice, most_overrun;
    };
    void add(std::size_t slot, Nanos now, const Remains& remains, const Limits& limits);
    /// dt passes: what the work of each slot takes of it.
    Charges pass(Nanos dt);
    /// What remains to be charged of newly measured time: nothing while it is undrained.
    Nanos absorb(std::size_t slot, Nanos measured);
    /// It has drained: what is still to be charged (or, negative, paid back).
    Nanos settle(std::size_t slot, Nanos now);
    /// It got a turn again before it drained: from here on measured time counts, less what was charged
    /// already and, in the first measurement, what was others'.
    void resume(std::size_t slot);
    void forget(std::size_t slot) { undrained_[slot] = {}; }
    [[nodiscard]] bool is(std::size_t slot) const { return undrained_[slot].active; }
    [[nodiscard]] int count() const;
    [[nodiscard]] bool any() const { return count() > 0; }

  private:
    struct Undrained {
        bool active = false;
        bool measured_counts = true;
        Nanos since = 0;
        Nanos exclusive_left = 0;
        Nanos shared_left = 0;
        Nanos overrun = 0;       // time since it should have been done
        Nanos overrun_paid = 0;  // of that, charged
        Nanos most_overrun = 0;  // that may be charged
        Nanos grace = 0;         // so late it may be without having used anything
        Nanos paid = 0;
        Nanos refundable = 0;
        Nanos measured = 0;
        Nanos others = 0;  // time before it was undrained that its measurement includes and that was others'
        Nanos others_since = 0;  // the same, since it is one
        Nanos carry = 0;         // charged ahead of measurements that come after the revival
    };
    static Nanos overrun_due(const Undrained& work, Nanos sharers);

    std::array<Undrained, kSlots> undrained_;
};

}  // namespace cgpu::schedule
