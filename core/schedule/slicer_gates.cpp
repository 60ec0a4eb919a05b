#include <algorithm>

#include "core/schedule/slicer.hpp"

// What a step answers: the gates, and when time alone will change something.

namespace cgpu::schedule {

namespace {
// A holder that is open is looked at no more often than this: its readings move by batches.
constexpr Nanos kLook = 200 * kMicro;

/// Of one that may run a little while another's turn lasts.
Gate overlapping(Nanos limit) {
    return {.state = Gate::State::open, .limit = limit, .contended = true, .overlap = true};
}
}  // namespace

Decision Slicer::all_free() const {
    Decision out;
    for (std::size_t i = 0; i < kSlots; ++i) {
        out.gates[i] = {Gate::State::free, kForever, false, true};
    }
    return out;
}

Decision Slicer::decide() {
    Decision out;
    open_gates(out.gates);
    for (std::size_t i = 0; i < kSlots; ++i) {
        Slot& s = slots_[i];
        out.gates[i].meets = ganged(i);
        s.held = out.gates[i].state == Gate::State::closed;
        const bool outside = !turn_ || turn_->slot != i || turn_->closed_at;
        if (outside && !s.outside) s.moved_at = now_;
        s.outside = outside;
    }
    const Nanos at = wake_at();
    out.wake_at = at == kForever ? kForever : std::max(at, now_ + settings_.tuning.shortest_wait);
    return out;
}

void Slicer::open_gates(Gates& gates) const {
    const bool undrained = undrained_.any();
    for (std::size_t i = 0; i < kSlots; ++i) {
        const bool overlap = undrained_.is(i) || may_wait_for_others(i);
        gates[i] = {.contended = true, .overlap = overlap};
        if (weight_of(slots_[i]) == 0) continue;
        if (const auto& through = slots_[i].let_through) gates[i] = overlapping(through->limit);
        if (admitted(i)) gates[i] = overlapping(slots_[i].meter.reached() + 1);
    }
    if (!turn_) return;
    Gate& own = gates[turn_->slot];
    if (turn_->closed_at && own.state == Gate::State::open) return;  // let through once more
    own.contended = turn_->contended;
    own.alone =
        std::count_if(slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.present; }) == 1;
    own.overlap = undrained || may_wait_for_others(turn_->slot);
    if (turn_->closed_at) return;
    own.state = Gate::State::open;
    own.limit = limit();
    if (!rules_.fills || turn_->priority || slots_[turn_->slot].was_busy) return;
    // One that meets others would only wait there, and take from the holder what it waits.
    if (const auto next = first_waiting(false); next && *next != turn_->slot && !ganged(*next)) {
        gates[*next] = overlapping(slots_[*next].meter.reached() + settings_.tuning.fill);
    }
}

Nanos Slicer::wake_at() const {
    Nanos at = kForever;
    const bool ending = turn_ && turn_->closed_at;
    // High priority that waits for its bucket.
    if (!ending && first_waiting(true) && !(turn_ && slots_[turn_->slot].high_priority)) {
        at = now_ + bucket_.time_to(settings_.tuning.preempt_after);
    }
    at = std::min(at, stuck_wake_at());
    if (turn_) return std::min(at, turn_wake_at());
    if (waits_for_idle_) at = std::min(at, now_ + time_until(*waits_for_idle_));
    return at;
}

Nanos Slicer::turn_wake_at() const {
    const Tuning& t = settings_.tuning;
    const Slot& s = slots_[turn_->slot];
    const Reading& level = s.meter.level();
    if (turn_->closed_at) {
        // Where something runs on past its estimate, what is left stays as it is: ever less often, then.
        const Nanos stalled = std::min(s.meter.stalled() / 2, kMilli);
        const Nanos wait =
            trusted() ? std::max(level.remaining - t.lead, stalled) : std::max(level.remaining, kMilli);
        return std::min(turn_->drain_deadline, now_ + wait);
    }
    if (!turn_->contended) return kForever;
    Nanos at = turn_->start + turn_->budget;
    if (limit() != kForever) {
        const Nanos left = limit() - s.meter.reached();
        at = std::min(at, now_ + std::max(left + level.remaining - t.lead, kLook));
    }
    if (!rules_.work_conserving && !turn_->priority) return at;
    if (!s.was_busy) at = std::min(at, s.idle_since + t.idle_grace);
    const bool waking =
        std::any_of(slots_.begin(), slots_.end(), [](const Slot& other) { return other.woke; });
    if (waking) at = std::min(at, now_ + std::max(t.preempt_after - consumed(), kLook));
    return at;
}

}  // namespace cgpu::schedule
