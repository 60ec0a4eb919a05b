#pragma once

#include <array>

#include "core/schedule/base/nanos.hpp"

namespace cgpu::schedule {

/// Work that is still in flight after its instance's turn was handed over: the last 100 µs of an early
/// hand-over, a kernel that passed its drain deadline, or work overtaken by high priority.
///
/// The measured time of such work includes the slices that the driver gave to the next holder meanwhile. So
/// it is charged by its prediction as time passes. When it has drained, the sum is clamped to what the
/// measurement allows: at most the measured time, and at least the measured time minus the time for which it
/// was undrained.
class UndrainedWork {
  public:
    using Times = std::array<Nanos, kSlots>;

    /// The rest at the end of a turn.
    struct Remains {
        Nanos remaining;   ///< predicted to run on
        Nanos paid;        ///< charged already of what isn't measured yet
        Nanos refundable;  ///< the part of that which may be paid back
        Nanos others;  ///< time of the turn that other undrained work took, and that its measurement includes
        bool measured_counts;  ///< its measurement is a union of intervals
    };
    /// The driver lets the old context run until its slice is over. From then on the contexts alternate. So
    /// work that isn't done when predicted may only be waiting for the next holder's slice to pass, and its
    /// end still has to be reported. That time belongs to the next holder. Further time is the work's own, up
    /// to half of all time. It is charged up to `most_overrun`: the debt must not grow without bound, because
    /// the kernel may be waiting for another one of its own instance that is held at the gate.
    struct Limits {
        Nanos driver_slice, most_overrun;
    };
    void add(std::size_t slot, Nanos now, const Remains& remains, const Limits& limits);
    struct Passed {
        Times ran{};      ///< what the work of each slot took
        Times charged{};  ///< of that; less if it runs for long beyond its estimate
    };
    /// dt passes, in which the holder of the turn worked for this long.
    Passed pass(Nanos dt, Nanos holder_worked);
    /// The part of newly measured time that remains to be charged: nothing while the work is undrained.
    Nanos absorb(std::size_t slot, Nanos measured);
    /// What was charged ahead of measurements that are still to come.
    [[nodiscard]] Nanos prepaid(std::size_t slot) const { return undrained_[slot].carry; }
    struct Correction {
        Nanos charge = 0;  ///< still to be charged (or, negative, paid back)
        Nanos use = 0;     ///< the same of what it ran
    };
    /// The work has drained.
    Correction settle(std::size_t slot, Nanos now);
    /// The part of newly measured time that is charged now and counted as having run before.
    Nanos counted(std::size_t slot, Nanos charged);
    /// Whether its processes have stopped, by their pages: they may only wait for a long kernel. So nothing
    /// is charged, and nobody is told of such work, but how long it may have run is known when it is
    /// measured.
    void set_stopped(std::size_t slot, bool stopped) { undrained_[slot].stopped = stopped; }
    /// The instance got a turn again before the work drained: from here on measured time counts, minus what
    /// was charged already and, in the first measurement, minus the time of others.
    void resume(std::size_t slot);
    void forget(std::size_t slot) { undrained_[slot] = {}; }
    [[nodiscard]] bool is(std::size_t slot) const { return undrained_[slot].runs(); }
    [[nodiscard]] int count() const;
    [[nodiscard]] bool any() const { return count() > 0; }

  private:
    struct Undrained {
        bool active = false;
        bool stopped = false;
        bool measured_counts = true;
        Nanos since = 0;
        Nanos exclusive_left = 0;
        Nanos shared_left = 0;
        Nanos overrun = 0;       // time since it should have been done
        Nanos overrun_part = 0;  // of that, its own if it ran all the time
        Nanos overrun_paid = 0;  // of that, charged
        Nanos overrun_ran = 0;   // of that, counted as having run
        Nanos most_overrun = 0;  // that may be charged
        Nanos grace = 0;         // so late it may be without having used anything
        Nanos paid = 0;
        Nanos refundable = 0;
        Nanos measured = 0;
        Nanos others = 0;  // time before it was undrained that its measurement includes and that was others'
        Nanos others_since = 0;  // the same, since it is one
        Nanos others_most = 0;   // the most that it can be
        Nanos carry = 0;         // charged ahead of measurements that come after the revival
        Nanos counted = 0;       // counted as having run, and not charged yet
        [[nodiscard]] bool runs() const { return active && !stopped; }
    };
    static Nanos overrun_of(const Undrained& work);

    std::array<Undrained, kSlots> undrained_;
};

}  // namespace cgpu::schedule
