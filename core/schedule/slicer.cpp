#include "core/schedule/slicer.hpp"

#include <algorithm>
#include <cassert>

namespace cgpu::schedule {

namespace {
/// The gate of an instance that may run for a short time during another's turn.
GateOrder overlapping(Nanos limit) {
    return {.state = GateOrder::State::open, .limit = limit, .contended = true, .overlap = true};
}

Decision all_free() {
    Decision out;
    out.gates.fill({GateOrder::State::free, kForever, false, true});
    return out;
}
}  // namespace

void Slicer::set_policy(model::Policy policy) {
    if (!competitors_.set_policy(policy)) return;
    turns_.end_soon();
    turns_.stop_idle_slices();
    if (!competitors_.rules().enforced) turns_.drop();
}

void Slicer::set_max_inst(int max_inst) {
    if (competitors_.set_max_inst(max_inst)) turns_.end_soon();
}

void Slicer::join(std::size_t slot, int weight, bool high_priority, Ask ask) {
    leave(slot);
    competitors_.join(slot, {weight, ask}, high_priority, now_);
}

void Slicer::leave(std::size_t slot) {
    assert(slot < kSlots);
    competitors_.leave(slot);
    accounting_.forget(slot);
    // Its work may run on for a moment, but no instance is left to be charged or to wait for it.
    if (turns_.holds(slot)) turns_.drop();
}

void Slicer::set_weight(std::size_t slot, int weight, Ask ask) {
    assert(slot < kSlots);
    if (!competitors_[slot].present) return;
    competitors_.set_requested(slot, {weight, ask});
    if (turns_.holds(slot)) turns_.end_soon();
}

void Slicer::set_high_priority(std::size_t slot, bool high_priority) {
    assert(slot < kSlots);
    if (competitors_.set_high_priority(slot, high_priority) && turns_.holds(slot)) turns_.end_soon();
}

Decision Slicer::step(Nanos now, const Readings& readings, const GangStates& gangs) {
    const Nanos dt = started_ ? std::max<Nanos>(0, now - now_) : 0;
    now_ = started_ ? now_ + dt : now;
    started_ = true;
    for (std::size_t i = 0; i < kSlots; ++i) competitors_[i].gang.hear(gangs[i], now_);
    accounting_.pass(competitors_, readings, now_, dt, turns_.running(), turns_.idle_slices());
    if (now_ > due_ && now_ - due_ >= tuning_.silence) {
        // No gate kept other instances from the GPU meanwhile, so use during that time needn't be repaid.
        competitors_.begin_anew();
        turns_.begin_anew(competitors_, accounting_, now_);
    }
    look_for_stuck();
    if (!competitors_.rules().enforced) {
        for (std::size_t i = 0; i < kSlots; ++i) competitors_[i].held = competitors_[i].let_out = false;
        return all_free();
    }
    turns_.step(competitors_, accounting_, now_);
    const Decision decision = decide();
    due_ = decision.wake_at;
    return decision;
}

std::optional<std::size_t> Slicer::holder() const {
    const auto& turn = turns_.current();
    return turn ? std::optional(turn->slot) : std::nullopt;
}

GangState Slicer::tell(std::size_t slot) const {
    if (!competitors_.rules().enforced) return {};
    const Slot& s = competitors_[slot];
    GangState out;
    out.lead = turns_.lead(competitors_, slot);
    out.busy = s.was_busy;
    out.waits_across_gpus = s.gang.waits_across_gpus();
    out.wants = s.stuck.outside() && s.level().wants;
    out.stuck = now_ >= stuck_at(slot);
    return out;
}

/// Kernels that run beside each other take as many times as long. If they were taken for stuck after the time
/// that one alone may take, the launches that are let through for them would keep them beside each other for
/// ever.
StuckWork::Patience Slicer::patience() const {
    const auto running = std::count_if(competitors_.slots().begin(), competitors_.slots().end(),
                                       [](const Slot& s) { return s.level().in_flight_estimate > 0; });
    StuckWork::Patience patience = patience_;
    patience.sharers = std::max(1, static_cast<int>(running));
    patience.drain.longest *= std::clamp<Nanos>(running, 1, most_sharers_);
    return patience;
}

Nanos Slicer::stuck_at(std::size_t slot) const {
    const Slot& s = competitors_[slot];
    return s.stuck.at(s.level(), patience(), s.gang.ganged());
}

bool Slicer::in_debt(std::size_t slot) const {
    // Work of the running turn is charged when the turn ends, or when the work is measured.
    return competitors_.in_debt(slot, turns_.holds(slot) ? competitors_[slot].has_run() : 0);
}

void Slicer::look_for_stuck() {
    const StuckWork::Patience bounds = patience();
    for (std::size_t i = 0; i < kSlots; ++i) {
        Slot& s = competitors_[i];
        if (s.gang.others().wants && now_ >= s.stuck.surely_at(s.level(), bounds)) {
            s.gang.note_wait_across_gpus(now_ + tuning_.gang_memory);
        }
        s.stuck.expire(now_, bounds);
        if (s.doubt.is()) continue;
        if (now_ >= s.stuck.own_at(s.level(), bounds) && competitors_.weight(i) > 0 && !in_debt(i)) {
            s.stuck.let_through(now_, s.filter.reached() + 1);
        }
    }
}

/// Whether the instance's work on another GPU may wait for a launch that is held here.
bool Slicer::frees_others(std::size_t slot) const {
    const Slot& s = competitors_[slot];
    const bool held = s.level().wants && s.level().in_flight_estimate == 0;
    return s.gang.others().stuck && held && !s.doubt.is() && !in_debt(slot);
}

Nanos Slicer::stuck_wake_at() const {
    const StuckWork::Patience bounds = patience();
    Nanos at = kForever;
    for (std::size_t i = 0; i < kSlots; ++i) {
        const Slot& s = competitors_[i];
        const Nanos stuck = s.gang.others().busy ? stuck_at(i) : kForever;
        for (const Nanos when : {stuck, s.stuck.own_at(s.level(), bounds), s.stuck.expires_at(bounds)}) {
            if (when > now_) at = std::min(at, when);
        }
    }
    return at;
}

Decision Slicer::decide() {
    Decision out;
    for (std::size_t i = 0; i < kSlots; ++i) {
        out.gates[i] = gate_outside_turn(i);
        competitors_[i].let_out = out.gates[i].state == GateOrder::State::open;
    }
    if (const auto& turn = turns_.current()) {
        open_turn(out.gates);
        competitors_[turn->slot].let_out &= turn->closed_at.has_value();
        if (competitors_[turn->slot].doubt.is()) open_beside(out.gates);
    }
    for (std::size_t i = 0; i < kSlots; ++i) {
        Slot& s = competitors_[i];
        out.gates[i].waits_across_gpus = s.gang.ganged();
        s.held = out.gates[i].state == GateOrder::State::closed;
        s.beside = s.beside || (!s.held && !s.let_out && !turns_.holds(i));
        s.stuck.set_outside(!turns_.holds(i) || turns_.current()->closed_at, now_);
    }
    const Nanos at =
        std::min(turns_.wake_at(competitors_, accounting_.undrained().any(), now_), stuck_wake_at());
    out.wake_at = at == kForever ? kForever : std::max(at, now_ + tuning_.shortest_wait);
    return out;
}

GateOrder Slicer::gate_outside_turn(std::size_t slot) const {
    const Slot& s = competitors_[slot];
    const bool overlap = accounting_.undrained().is(slot) || s.gang.may_wait_for_others();
    const GateOrder closed{.contended = true, .overlap = overlap};
    if (competitors_.weight(slot) == 0) return closed;
    if (frees_others(slot)) return overlapping(s.filter.reached() + 1);
    if (const auto limit = s.stuck.limit(); limit && !s.doubt.is()) return overlapping(*limit);
    return closed;
}

/// Nobody is held for an instance whose reports can't be true: what it has in flight, and for how long,
/// isn't known, so its turn gives it no more than the driver does.
void Slicer::open_beside(GateOrders& gates) const {
    const std::size_t holder = turns_.current()->slot;
    for (std::size_t i = 0; i < kSlots; ++i) {
        const Slot& s = competitors_[i];
        if (i == holder || s.doubt.is() || competitors_.weight(i) == 0) continue;
        gates[i] = overlapping(s.filter.reached() + competitors_.period());
    }
    gates[holder].overlap = true;
}

void Slicer::open_turn(GateOrders& gates) const {
    const Turn& turn = *turns_.current();
    const Slot& holder = competitors_[turn.slot];
    GateOrder& own = gates[turn.slot];
    if (turn.closed_at && own.state == GateOrder::State::open) return;  // a launch is let through once more
    own.contended = turn.contended;
    own.alone = std::count_if(competitors_.slots().begin(), competitors_.slots().end(),
                              [](const Slot& slot) { return slot.present; }) == 1;
    own.overlap = accounting_.undrained().any() || holder.gang.may_wait_for_others();
    if (turn.closed_at) return;
    own.state = GateOrder::State::open;
    own.limit = turns_.limit(competitors_);
    if (!competitors_.rules().fills || turn.priority || holder.was_busy) return;
    // A ganged instance would only wait there, and take the time from the holder.
    if (const auto next = turns_.next(competitors_);
        next && *next != turn.slot && !competitors_[*next].gang.ganged()) {
        gates[*next] = overlapping(competitors_[*next].filter.reached() + tuning_.fill);
    }
}

}  // namespace cgpu::schedule
