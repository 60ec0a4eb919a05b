#pragma once

#include "core/schedule/base/reading.hpp"

namespace cgpu::schedule {

/// Turns what one instance claims into usable levels, however wrong the claim is:
///  - times are clamped to 0..an hour (`used` and `waited`: 0..2^61), `remaining` is at most the estimate;
///  - the accepted use is never more than the wall time since the instance was last seen without work: one
///    instance can't have used more than the whole GPU;
///  - if `used` jumps back, that is a new start: nothing is charged for it or paid back;
///  - a stale page has no work in flight and wants nothing.
/// A claim that is too low is caught by the minimum price of a turn (Slicer).
class ReadingFilter {
  public:
    /// Takes one reading, dt after the last one. Returns the GPU time to charge since then. The first reading
    /// only sets the base.
    Nanos read(const Reading& claim, Nanos dt);

    /// How long launches waited in the time before the last reading; at most dt.
    [[nodiscard]] Nanos fresh_wait() const { return fresh_wait_; }

    /// For how long the rest of the work in flight has not changed although time passed, with nothing
    /// launched or measured: its oldest part runs beyond its estimate.
    [[nodiscard]] Nanos stalled() const { return stalled_; }

    /// For how long it had work in flight in the time before the last reading; at most dt. The whole time, if
    /// it had some at both ends, or its page is stale: it may wait for a long kernel. The shorter dt is, the
    /// truer.
    [[nodiscard]] Nanos worked() const { return worked_; }

    /// The last claim within its bounds.
    [[nodiscard]] const Reading& level() const { return level_; }
    [[nodiscard]] bool busy() const { return level_.wants || level_.in_flight_estimate > 0; }
    /// used + in-flight estimate: this is compared with a gate's limit.
    [[nodiscard]] Nanos reached() const { return level_.used + level_.in_flight_estimate; }

  private:
    Reading level_;
    Nanos believable_ = 0;
    Nanos fresh_wait_ = 0;
    Nanos stalled_ = 0;
    Nanos worked_ = 0;
    bool claimed_ = false;  // by the last claim work is in flight
    bool started_ = false;
};

}  // namespace cgpu::schedule
