#pragma once

#include "core/schedule/base/nanos.hpp"

namespace cgpu::schedule {

/// Finds reports of one process that can't be true, by the daemon's clock. An honest process never makes one,
/// however late, slow or short of CPU time it is:
///  - its used time only grows, and by no more than the time that has passed since it was last seen without
///    work (twice that, because some work is charged by an estimate, and kAllowed);
///  - work that leaves its estimate of the work in flight is measured, so the used time grows. An estimate
///    can be too long, but the sum of many isn't many times the sum of what was measured;
///  - a report isn't older than the one before, and is newer if its figures are.
/// The first report of a page may say anything: a process that reconnects to a restarted daemon brings all
/// that it ever used. If it has work in flight, that may have begun long before: the first that is measured
/// then may be any length.
class PageCheck {
  public:
    static constexpr Nanos kAllowed = 100 * kMilli;

    struct Claim {
        Nanos used = 0;  ///< cumulative
        Nanos in_flight = 0;
        bool wants = false;
        Nanos updated = 0;  ///< when it was written
    };
    /// Takes the next report. Returns whether it can be true.
    [[nodiscard]] bool plausible(const Claim& claim, Nanos now);

  private:
    bool started_ = false;
    Claim last_;
    Nanos at_ = 0;
    Nanos explained_ = 0;      ///< so much more it can have used, since it was last seen without work
    Nanos stands_ = 0;         ///< what it used without a report that is newer
    bool found_work_ = false;  ///< by the first report, and nothing of it has been measured
    Nanos vanished_ = 0;       ///< estimates of work that left without having been measured
};

}  // namespace cgpu::schedule
