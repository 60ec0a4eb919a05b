#include <algorithm>

#include "core/schedule/slicer.hpp"

// One time for an instance on all of its GPUs.

namespace cgpu::schedule {

GangState Slicer::tell(std::size_t slot) const {
    if (!rules_.enforced) return {};
    const Slot& s = slots_[slot];
    GangState out;
    out.lead = lead(slot);
    out.busy = s.was_busy;
    out.meets = meets(slot);
    out.wants = s.outside && s.meter.level().wants;
    out.stuck = now_ >= stuck_at(slot);
    return out;
}

bool Slicer::meets(std::size_t slot) const { return now_ < slots_[slot].ganged_until; }

bool Slicer::ganged(std::size_t slot) const { return meets(slot) || gangs_[slot].meets; }

bool Slicer::may_wait_for_others(std::size_t slot) const { return ganged(slot) && gangs_[slot].wants; }

Lead Slicer::lead(std::size_t slot) const {
    if (!slots_[slot].was_busy || !ganged(slot)) return Lead::none;
    if (!turn_ && rules_.work_conserving) return Lead::none;
    if (!turn_ || turn_->slot != slot) return Lead::held;
    if (turn_->closed_at) return Lead::leaving;
    // Alone it may stay for long: any time suits it on the other GPUs.
    return turn_->contended ? Lead::called : Lead::none;
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
    const double own = place(holder, ahead(holder));
    for (std::size_t i = 0; i < kSlots; ++i) {
        if (i != holder && gangs_[i].lead == Lead::called && wants(i) && place(i, 0) <= own) return true;
    }
    return false;
}

}  // namespace cgpu::schedule
