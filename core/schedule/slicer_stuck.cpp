#include <algorithm>

#include "core/schedule/slicer.hpp"

// Work behind a closed gate that can't end before a launch has passed that is held, here or on another GPU.

namespace cgpu::schedule {

void Slicer::look_for_stuck() {
    for (std::size_t i = 0; i < kSlots; ++i) {
        if (gangs_[i].wants && now_ >= surely_stuck_at(i)) {
            slots_[i].ganged_until = now_ + settings_.tuning.gang_memory;
        }
        if (now_ >= own_stuck_at(i) && weight_of(slots_[i]) > 0 && !in_debt(i)) {
            slots_[i].let_through = {now_, slots_[i].meter.reached() + 1};
        }
    }
}

Nanos Slicer::overdue_at(std::size_t slot, Nanos patience) const {
    const Slot& s = slots_[slot];
    const Reading& level = s.meter.level();
    if (!s.outside || level.in_flight_estimate == 0) return kForever;
    const Nanos least = level.unmeasured ? settings_.tuning.unmeasured_drain : 0;
    return s.moved_at + std::min(std::max(patience, least), settings_.tuning.longest_drain);
}

Nanos Slicer::surely_stuck_at(std::size_t slot) const {
    const Nanos estimate = slots_[slot].meter.level().in_flight_estimate;
    return overdue_at(slot, 2 * estimate + settings_.tuning.drain_slack);
}

Nanos Slicer::stuck_at(std::size_t slot) const {
    if (!ganged(slot)) return surely_stuck_at(slot);
    // Not before it could have been done: a launch that is let through too early is the next one to be stuck.
    return overdue_at(slot, slots_[slot].meter.level().in_flight_estimate + settings_.tuning.stuck_grace);
}

void Slicer::moved(Slot& slot) {
    slot.moved_at = now_;
    if (!slot.let_through) return;
    slot.frees_itself = now_ - slot.let_through->at <= settings_.tuning.freed_within;
    slot.let_through.reset();
}

Nanos Slicer::own_stuck_at(std::size_t slot) const {
    const Slot& s = slots_[slot];
    if (!s.meter.level().wants || s.let_through) return kForever;
    return s.frees_itself ? overdue_at(slot, settings_.tuning.stuck_grace) : surely_stuck_at(slot);
}

bool Slicer::in_debt(std::size_t slot) const {
    // What runs in its turn is charged when that ends, or when it is measured.
    const Reading& level = slots_[slot].meter.level();
    const bool holds = turn_ && turn_->slot == slot;
    const Nanos running = holds ? level.in_flight_estimate - level.remaining : 0;
    const auto most = static_cast<double>(period() + gang_debt(slot) - running);
    return group(slot).debt(slot) >= most;
}

bool Slicer::admitted(std::size_t slot) const {
    const Slot& s = slots_[slot];
    const Reading& level = s.meter.level();
    if (!gangs_[slot].stuck || !level.wants || level.in_flight_estimate > 0) return false;
    return !in_debt(slot);
}

Nanos Slicer::stuck_wake_at() const {
    Nanos at = kForever;
    for (std::size_t i = 0; i < kSlots; ++i) {
        const Nanos stuck = gangs_[i].busy ? stuck_at(i) : kForever;
        for (const Nanos when : {stuck, own_stuck_at(i)}) {
            if (when > now_) at = std::min(at, when);
        }
    }
    return at;
}

}  // namespace cgpu::schedule
