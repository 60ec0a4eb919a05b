#include <algorithm>

#include "core/schedule/slicer.hpp"

// When a turn ends and who is next.

namespace cgpu::schedule {

bool Slicer::contended() const {
    const std::size_t holder = turn_->slot;
    for (std::size_t i = 0; i < kSlots; ++i) {
        if (i != holder && wants(i)) return true;
    }
    if (rules_.work_conserving) return false;
    // Slices that nobody uses are kept from the holder like somebody's.
    const int self = slots_[holder].high_priority ? 0 : 1;
    return ordinary_present() > self || ordinary_.weight(VirtualTime::kSpare) > 0;
}

Nanos Slicer::turn_length(std::size_t slot) const {
    const Nanos length = std::max(1, weight_of(slots_[slot])) * settings_.tuning.slice;
    return ganged(slot) ? std::max(length, settings_.tuning.gang_turn) : length;
}

double Slicer::place(std::size_t slot, Nanos ahead) const {
    const VirtualTime& times = group(slot);
    return times.at(slot) + static_cast<double>(ahead + handicap(slot)) / std::max(1, times.weight(slot));
}

Nanos Slicer::ahead(std::size_t slot) const {
    return ganged(slot) ? 0 : slots_[slot].meter.level().in_flight_estimate;
}

Nanos Slicer::time_until(std::size_t slot) const {
    return ordinary_.time_until_next(slot, handicap(slot), idle_entries());
}

Nanos Slicer::limit() const {
    // What a kernel that waits for others takes is no use to plan by: such a turn ends by the clock.
    return turn_->contended && !ganged(turn_->slot) ? turn_->base + turn_->budget : kForever;
}

Nanos Slicer::consumed() const {
    const Nanos elapsed = now_ - turn_->start;
    if (ganged(turn_->slot)) return elapsed;
    return std::max(slots_[turn_->slot].meter.reached() - turn_->base, elapsed);
}

bool Slicer::idle_too_long() const {
    const Slot& s = slots_[turn_->slot];
    return !s.was_busy && now_ - s.idle_since >= settings_.tuning.idle_grace;
}

bool Slicer::overtaken() const {
    const Tuning& t = settings_.tuning;
    if (turn_->priority || consumed() < t.preempt_after) return false;
    const double own = place(turn_->slot, ahead(turn_->slot));
    for (std::size_t i = 0; i < kSlots; ++i) {
        const Slot& s = slots_[i];
        if (s.woke && !s.high_priority && wants(i) && place(i, t.preempt_after / 2) <= own) return true;
    }
    return false;
}

std::optional<std::size_t> Slicer::first_waiting(bool high_priority) const {
    std::optional<std::size_t> first;
    // From the one after the last holder, so that equals take turns.
    for (std::size_t k = 1; k <= kSlots; ++k) {
        const std::size_t i = (last_holder_ + k) % kSlots;
        if (slots_[i].high_priority != high_priority || !wants(i)) continue;
        if (!first || place(i, 0) < place(*first, 0)) first = i;
    }
    return first;
}

std::size_t Slicer::furthest_behind(std::size_t slot) const {
    std::size_t first = slot;
    for (std::size_t i = 0; i < kSlots; ++i) {
        const bool competes = slots_[i].high_priority == slots_[slot].high_priority && wants(i);
        if (competes && group(i).at(i) < group(i).at(first)) first = i;
    }
    return first;
}

std::optional<std::size_t> Slicer::urgent() const {
    if (turn_ && turn_->priority) return std::nullopt;
    const auto first = first_waiting(true);
    if (!first || bucket_.level() < settings_.tuning.preempt_after) return std::nullopt;
    if (turn_ && slots_[turn_->slot].high_priority) return std::nullopt;
    return first;
}

bool Slicer::turn_is_up() {
    if (end_turn_) return true;
    if (!turn_->contended) return false;
    const Reading& level = slots_[turn_->slot].meter.level();
    if (consumed() >= turn_->budget) return true;
    if (turn_->priority && bucket_.level() <= level.in_flight_estimate) return true;
    if (urgent()) return turn_->cut_short = true;
    if (dismissed() || another_is_called()) return true;
    if (!rules_.work_conserving && !turn_->priority) return false;
    if (idle_too_long()) return true;
    if (!rules_.work_conserving) return false;
    if (level.syncing && level.usual_gap > settings_.tuning.worthwhile_gap) return true;
    return turn_->cut_short = overtaken();
}

void Slicer::close_gate() {
    const Tuning& t = settings_.tuning;
    Slot& s = slots_[turn_->slot];
    const Reading& level = s.meter.level();
    const Nanos predicted = level.remaining;
    Nanos patience = 2 * predicted + t.drain_slack;
    if (level.unmeasured) patience = std::max(patience, t.unmeasured_drain);
    turn_->closed_at = now_;
    // Beside undrained work it gets a part of the GPU only. Who is handed over to before the end would be the
    // next one beside one, and where kernels are long, for ever.
    const int sharers = std::min(1 + undrained_.count(), t.most_sharers);
    turn_->drain_deadline = now_ + std::min(patience, sharers * t.longest_drain);
    if (predicted > 0) s.trust.predict(now_ + predicted);
    if (turn_->cut_short) ++s.achieved.preemptions;
    end_turn_ = false;
}

bool Slicer::trusted() const {
    const Slot& s = slots_[turn_->slot];
    const Reading& level = s.meter.level();
    return level.alone_process && !level.unmeasured && s.trust.good(settings_.tuning.trusted_error);
}

bool Slicer::may_hand_over() const {
    const Reading& level = slots_[turn_->slot].meter.level();
    if (now_ >= turn_->drain_deadline) return true;
    if (level.in_flight_estimate == 0) return true;
    // Overlap costs exactness, so it is for one that wakes up, not for one that waits for its bucket to fill.
    if (const auto high = urgent(); high && slots_[*high].woke) return true;
    return trusted() && level.remaining <= settings_.tuning.lead;
}

Nanos Slicer::late() const {
    // While something runs on past its estimate, nobody can say that nothing runs.
    const bool measured = slots_[turn_->slot].meter.level().in_flight_estimate == 0 || trusted();
    if (!measured || turn_->priority) return 0;
    const Nanos elapsed = now_ - turn_->start;
    const Nanos without_work = std::max<Nanos>(0, elapsed - turn_->charged);
    const Nanos believed = elapsed - elapsed * settings_.tuning.least_late_cost_percent / 100;
    return std::min({without_work, turn_->waited, believed});
}

int Slicer::least_cost_percent() const {
    // Cheaper than what flows into the bucket meanwhile, a turn of high priority would never empty it.
    return turn_->priority ? 100 : settings_.tuning.least_cost_percent;
}

void Slicer::hand_over() {
    const std::size_t slot = turn_->slot;
    const Reading& level = slots_[slot].meter.level();
    const Nanos elapsed = now_ - turn_->start;
    Nanos ahead = 0;
    slots_[slot].took += level.in_flight_estimate;
    if (level.in_flight_estimate > 0 && level.alone_process) {
        ahead = std::min(level.in_flight_estimate - level.remaining, elapsed);
        // Past its estimate nobody else ran meanwhile: what isn't charged yet of the time went into this
        // work.
        const Nanos unaccounted = turn_->busy - turn_->undrained_took - turn_->charged;
        if (now_ >= turn_->drain_deadline) ahead = std::max(ahead, unaccounted);
        charge(slot, ahead);
        turn_->charged += ahead;
    }
    const Nanos overrun = std::min(slots_[slot].meter.stalled(), elapsed - turn_->charged);
    const Nanos others = std::clamp<Nanos>(overrun, 0, turn_->undrained_took);
    // What was measured of the turn includes what undrained work took of it.
    const Nanos twice =
        std::clamp<Nanos>(turn_->charged + turn_->undrained_took - elapsed, 0, turn_->undrained_took);
    charge(slot, -twice);
    turn_->charged -= twice;
    // A turn has its price even if little is reported: an instance that reports too little would come first
    // for ever, and where turns are of fixed length one that can't fill its own must not take others' for it.
    const Nanos occupied = rules_.work_conserving ? turn_->busy * least_cost_percent() / 100 : elapsed;
    const Nanos least = std::max<Nanos>(0, occupied - late() - turn_->undrained_took);
    if (turn_->charged < least) charge_without_use(slot, least - turn_->charged);
    if (level.in_flight_estimate > 0) {
        const Nanos refundable = std::max<Nanos>(0, turn_->charged - least);
        undrained_.add(slot, now_, {level.remaining, ahead, refundable, others, level.alone_process},
                       {settings_.tuning.driver_slice, period()});
    }
    last_holder_ = slot;
    turn_.reset();
}

void Slicer::pick_next() {
    waits_for_idle_.reset();
    if (const auto high = urgent()) return begin_turn(*high, true);
    const auto next = first_waiting(false);
    if (!next) {
        // The bucket keeps high priority from others' time only; but slices nobody uses stay idle by rule.
        const bool free = rules_.work_conserving || (ordinary_present() == 0 && !rules_.spare_burns);
        const auto high = first_waiting(true);
        if (high && free) begin_turn(*high, false);
        return;
    }
    // A microsecond: rounding must not make it wait for a step more.
    if (!rules_.work_conserving && time_until(*next) > kMicro) {
        waits_for_idle_ = next;
        return;
    }
    begin_turn(*next, false);
}

void Slicer::begin_turn(std::size_t slot, bool priority) {
    Slot& s = slots_[slot];
    undrained_.resume(slot);
    Turn turn;
    turn.slot = slot;
    turn.priority = priority;
    turn.start = now_;
    turn.base = s.meter.reached();
    turn.budget = turn_length(slot);
    if (priority)
        turn.budget = std::min(turn.budget, std::max(bucket_.lasts(), settings_.tuning.preempt_after));
    turn_ = turn;
    turn_->contended = contended();
    group(slot).advance_clock(furthest_behind(slot));
    s.woke = false;
    s.took = 0;
    ++s.achieved.turns;
}

}  // namespace cgpu::schedule
