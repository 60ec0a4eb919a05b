#include "core/schedule/parts/stuck_work.hpp"

#include <algorithm>

namespace cgpu::schedule {

void StuckWork::set_outside(bool outside, Nanos now) {
    if (outside && !outside_) moved_at_ = now;
    outside_ = outside;
}

void StuckWork::moved(Nanos now) {
    moved_at_ = now;
    if (!let_through_) return;
    freed_after_ = now - let_through_->at;
    let_through_.reset();
}

Nanos StuckWork::overdue_at(const Reading& level, const Patience& patience, Nanos wait) const {
    if (!outside_ || level.in_flight_estimate == 0) return kForever;
    const Nanos least = level.unmeasured ? patience.drain.unmeasured : 0;
    return moved_at_ + std::min(std::max(wait, least), patience.drain.longest);
}

Nanos StuckWork::surely_at(const Reading& level, const Patience& patience) const {
    return overdue_at(level, patience,
                      patience.sharers * (2 * level.in_flight_estimate + patience.drain.slack));
}

Nanos StuckWork::at(const Reading& level, const Patience& patience, bool ganged) const {
    if (!ganged) return surely_at(level, patience);
    // Not before the work could have finished: a launch that is let through too early would get stuck itself.
    return overdue_at(level, patience, level.in_flight_estimate + patience.stuck.grace);
}

Nanos StuckWork::own_at(const Reading& level, const Patience& patience) const {
    if (!level.wants || let_through_) return kForever;
    const bool frees_itself = freed_after_ <= patience.stuck.freed_within;
    return frees_itself ? overdue_at(level, patience, patience.stuck.grace) : surely_at(level, patience);
}

void StuckWork::expire(Nanos now, const Patience& patience) {
    if (now >= expires_at(patience)) let_through_->expired = true;
}

Nanos StuckWork::expires_at(const Patience& patience) const {
    return let_through_ && !let_through_->expired ? let_through_->at + patience.stuck.let_through_for
                                                  : kForever;
}

std::optional<Nanos> StuckWork::limit() const {
    return let_through_ && !let_through_->expired ? std::optional(let_through_->limit) : std::nullopt;
}

}  // namespace cgpu::schedule
