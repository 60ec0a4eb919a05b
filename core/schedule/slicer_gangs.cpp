#include <algorithm>

#include "core/schedule/slicer.hpp"

// One time for an instance on all of its GPUs.

namespace cgpu::schedule {

Elsewhere Slicer::tell(std::size_t slot) const {
    if (!rules_.enforced) return {};
    const Slot& s = slots_[slot];
    Elsewhere out;
    out.lead = lead(slot);
    out.busy = s.was_busy;
    out.meets = meets(slot);
    out.wants = s.outside && s.meter.level().wants;
    out.stuck = now_ >= stuck_at(slot);
    return out;
}

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

bool Slicer::meets(std::size_t slot) const { return now_ < slots_[slot].ganged_until; }

bool Slicer::ganged(std::size_t slot) const { return meets(slot) || gangs_[slot].meets; }

bool Slicer::may_wait_for_others(std::size_t slot) const { return ganged(slot) && gangs_[slot].wants; }

Lead Slicer::lead(std::size_t slot) const {
    if (!slots_[slot].was_busy || !ganged(slot)) return Lead::none;
    if (!turn_ && rules_.work_conserving) return Lead::none;
    if (!turn_ || turn_->slot != slot) return Lead::held;
    if (turn_->closed_at) return Lead::leaving;
    // Alone it may stay for long: any time suits it elsewhere.
    return turn_->contended ? Lead::called : Lead::none;
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
    return overdue_at(slot, slots_[slot].meter.level().in_flight_estimate + settings_.tuning.gang_grace);
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
    return s.frees_itself ? overdue_at(slot, settings_.tuning.gang_grace) : surely_stuck_at(slot);
}

bool Slicer::in_debt(std::size_t slot) const {
    return group(slot).debt(slot) >= static_cast<double>(most_debt(slot) - turn_length(slot));
}

bool Slicer::admitted(std::size_t slot) const {
    const Slot& s = slots_[slot];
    const Reading& level = s.meter.level();
    if (!gangs_[slot].stuck || !level.wants || level.in_flight_estimate > 0) return false;
    return !in_debt(slot);
}

Nanos Slicer::handicap(std::size_t slot) const {
    if (slots_[slot].high_priority) return 0;
    const Nanos slack = settings_.tuning.gang_slack;
    switch (gangs_[slot].lead) {
        case Lead::none:
            break;
        case Lead::called:
            return -slack;
        case Lead::held:
            return slack;
        case Lead::leaving:
            // Or it would be next again where it has drained already.
            return 2 * slack;
    }
    return 0;
}

bool Slicer::dismissed() const {
    const Lead lead = gangs_[turn_->slot].lead;
    return turn_->called && (lead == Lead::held || lead == Lead::leaving);
}

bool Slicer::another_is_called() const {
    const std::size_t holder = turn_->slot;
    if (turn_->priority || gangs_[holder].lead == Lead::called) return false;
    const double own = place(holder, slots_[holder].meter.level().in_flight_estimate);
    for (std::size_t i = 0; i < kSlots; ++i) {
        if (i != holder && gangs_[i].lead == Lead::called && wants(i) && place(i, 0) <= own) return true;
    }
    return false;
}

Nanos Slicer::gang_wake_at() const {
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
