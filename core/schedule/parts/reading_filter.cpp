#include "core/schedule/parts/reading_filter.hpp"

#include <algorithm>

namespace cgpu::schedule {

namespace {
// Sums of a few of these are far from overflow.
constexpr Nanos kMostUsed = Nanos{1} << 61;
constexpr Nanos kMostClaimed = 3'600 * kSecond;
}  // namespace

Nanos ReadingFilter::read(const Reading& claim, Nanos dt) {
    const Reading before = level_;
    const bool was_busy = busy();
    level_ = claim;
    level_.used = std::clamp<Nanos>(claim.used, 0, kMostUsed);
    level_.waited = std::clamp<Nanos>(claim.waited, 0, kMostUsed);
    fresh_wait_ = std::clamp<Nanos>(level_.waited - before.waited, 0, dt);
    level_.in_flight_estimate = std::clamp<Nanos>(claim.in_flight_estimate, 0, kMostClaimed);
    if (claim.stale) {
        level_.wants = level_.syncing = level_.unmeasured = false;
        level_.in_flight_estimate = 0;
    }
    level_.remaining = std::clamp<Nanos>(claim.remaining, 0, level_.in_flight_estimate);
    level_.usual_gap = std::clamp<Nanos>(claim.usual_gap, 0, kMostClaimed);
    const bool same = level_.used == before.used && level_.in_flight_estimate == before.in_flight_estimate;
    const bool stands = same && level_.remaining > 0 && level_.remaining >= before.remaining;
    stalled_ = stands ? stalled_ + dt : 0;
    const auto runs = [](const Reading& at) { return at.used + at.in_flight_estimate - at.remaining; };
    const bool throughout = before.in_flight_estimate > 0 && level_.in_flight_estimate > 0;
    worked_ = throughout || claim.stale ? dt : std::clamp<Nanos>(runs(level_) - runs(before), 0, dt);
    if (!started_) {
        started_ = true;
        fresh_wait_ = worked_ = 0;
        claimed_ = claim.stale || claim.in_flight_estimate > 0;
        return 0;
    }
    // A stale page may be that of a process that waits for a long kernel.
    believable_ = was_busy || claimed_ ? std::min(believable_ + dt, kMostUsed) : dt;
    const Nanos fresh = std::clamp<Nanos>(level_.used - before.used, 0, believable_);
    believable_ -= fresh;
    claimed_ = claim.stale || claim.in_flight_estimate > 0;
    return fresh;
}

}  // namespace cgpu::schedule
