#include "core/schedule/parts/stuck_work.hpp"

#include <algorithm>

namespace cgpu::schedule {

void StuckWork::set_outside(bool outside, Nanos now) {
    if (outside && !outside_) moved_at_ = now;
    outside_ = outside;
}

void StuckWork::moved(Nanos now, Nanos freed_within) {
    moved_at_ = now;
    if (!let_through_) return;
    frees_itself_ = now - let_through_->at <= freed_within;
    let_through_.reset();
}

Nanos StuckWork::overdue_at(const Reading& level, const Tuning& tuning, Nanos patience) const {
    if (!outside_ || level.in_flight_estimate == 0) return kForever;
    const Nanos least = level.unmeasured ? tuning.unmeasured_drain : 0;
    return moved_at_ + std::min(std::max(patience, least), tuning.longest_drain);
}

Nanos StuckWork::surely_at(const Reading& level, const Tuning& tuning) const {
    return overdue_at(level, tuning, 2 * level.in_flight_estimate + tuning.drain_slack);
}

Nanos StuckWork::at(const Reading& level, const Tuning& tuning, bool ganged) const {
    if (!ganged) return surely_at(level, tuning);
    // Not before the work could have finished: a launch that is let through too early would get stuck itself.
    return overdue_at(level, tuning, level.in_flight_estimate + tuning.stuck_grace);
}

Nanos StuckWork::own_at(const Reading& level, const Tuning& tuning) const {
    if (!level.wants || let_through_) return kForever;
    return frees_itself_ ? overdue_at(level, tuning, tuning.stuck_grace) : surely_at(level, tuning);
}

std::optional<Nanos> StuckWork::limit() const {
    return let_through_ ? std::optional(let_through_->limit) : std::nullopt;
}

}  // namespace cgpu::schedule
