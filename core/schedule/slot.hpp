#pragma once

#include "core/schedule/base/proportions.hpp"
#include "core/schedule/parts/doubt.hpp"
#include "core/schedule/parts/drain_trust.hpp"
#include "core/schedule/parts/gang_member.hpp"
#include "core/schedule/parts/reading_filter.hpp"
#include "core/schedule/parts/stuck_work.hpp"

namespace cgpu::schedule {

/// What an instance has received of one GPU since its slot was joined. Times in nanoseconds.
struct Achieved {
    Nanos used = 0;    ///< GPU time charged, overlaps divided
    Nanos waited = 0;  ///< wanted and was held
    /// The least that its turns cost, whatever its processes say that they used: least_percent of the time in
    /// which it had work and others waited, without the time that undrained work of others took, and that in
    /// which its threads were woken late.
    Nanos granted = 0;
    std::int64_t turns = 0;
    std::int64_t preemptions = 0;  ///< turns of it cut short by a waking or a high-priority instance
};

/// One instance on one GPU, as the slicer sees it.
struct Slot {
    bool present = false;
    bool high_priority = false;
    Requested requested;  ///< as set; what counts under the policy is Competitors::weight
    bool was_busy = false;
    bool woke = false;      ///< came back to work and has had no turn since
    bool held = false;      ///< its gate was closed by the last step
    Nanos idle_since = 0;   ///< where it isn't busy
    Nanos competed_at = 0;  ///< when it last wanted the GPU, or held it
    /// GPU time since its last turn began, while others waited: measured, estimated at the turn's end, or
    /// charged for what was let through outside it.
    Nanos took = 0;
    bool let_out = false;  ///< by the last step its gate is open outside its turn
    bool beside = false;   ///< its gate was open beside a holder, and what it launched then may still run
    ReadingFilter filter;
    Doubt doubt;
    DrainTrust trust;
    GangMember gang;
    StuckWork stuck;
    Achieved achieved;

    [[nodiscard]] const Reading& level() const { return filter.level(); }
    /// The part of the work in flight that has run, by its estimate.
    [[nodiscard]] Nanos has_run() const { return level().in_flight_estimate - level().remaining; }
    /// Whether its drain predictions can be used for planning.
    [[nodiscard]] bool predictable(Nanos allowed_error) const {
        return level().alone_process && !level().unmeasured && trust.good(allowed_error);
    }
};

}  // namespace cgpu::schedule
