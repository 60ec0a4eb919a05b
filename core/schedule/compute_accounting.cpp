#include "core/schedule/compute_accounting.hpp"

#include <algorithm>

namespace cgpu::schedule {

namespace {
/// Notes which instances have returned to work or have become idle.
void note_activity(Competitors& competitors, const Turn* turn, Nanos now) {
    for (std::size_t i = 0; i < kSlots; ++i) {
        Slot& s = competitors[i];
        if (!s.present) continue;
        const bool busy = s.filter.busy();
        const bool back = busy && !s.was_busy;
        if (back && (competitors.rules().work_conserving || s.high_priority)) competitors.catch_up(i);
        if (back) s.woke = turn == nullptr || turn->slot != i;
        if (!busy && s.was_busy) s.idle_since = now;
        if (!busy) s.woke = false;
        s.was_busy = busy;
    }
}
}  // namespace

/// The part of dt for which an ordinary holder was late: its gate was open and its launches waited, but none
/// of its work ran. The high-priority bucket doesn't fill meanwhile.
Nanos ComputeAccounting::held_up(const Competitors& competitors, const Turn* turn, Nanos dt,
                                 Nanos charged_before) const {
    if (turn == nullptr || turn->closed_at || competitors[turn->slot].high_priority) return 0;
    const Slot& holder = competitors[turn->slot];
    const Nanos without_work = std::max<Nanos>(0, dt - holder.has_run() - (turn->charged - charged_before));
    const Nanos believed = dt - dt * tuning_.least_late_percent / 100;
    return std::min({holder.filter.fresh_wait(), without_work, believed});
}

/// The same for a whole turn: the holder isn't charged for that time.
Nanos ComputeAccounting::late(const Slot& holder, const Turn& turn, Nanos elapsed) const {
    // While a kernel runs beyond its estimate, it is unknown whether the GPU is idle.
    const bool measured = holder.level().in_flight_estimate == 0 || holder.predictable(trusted_error_);
    if (!measured || turn.priority) return 0;
    const Nanos without_work = std::max<Nanos>(0, elapsed - turn.charged);
    const Nanos believed = elapsed - elapsed * tuning_.least_late_percent / 100;
    return std::min({without_work, turn.waited, believed});
}

/// The minimum price of a turn, whatever was reported of it. An instance that reports too little would go
/// first for ever; and in policies with turns of fixed length, an instance that can't fill its own turn must
/// not get others' in exchange.
Nanos ComputeAccounting::least_price(const Competitors& competitors, const Turn& turn, Nanos elapsed) const {
    // If a high-priority turn were cheaper than what flows into the bucket meanwhile, it would never empty
    // the bucket.
    const int percent = turn.priority ? 100 : tuning_.least_percent;
    const Nanos occupied = competitors.rules().work_conserving ? turn.busy * percent / 100 : elapsed;
    return std::max<Nanos>(0, occupied - late(competitors[turn.slot], turn, elapsed) - turn.undrained_took);
}

void ComputeAccounting::pass(Competitors& competitors, const Readings& readings, Nanos now, Nanos dt,
                             Turn* turn, bool idle_slices) {
    const UndrainedWork::Charges undrained = undrained_.pass(dt);
    Nanos took = 0;
    for (std::size_t i = 0; i < kSlots; ++i) {
        if (undrained[i] > 0) competitors.charge(i, undrained[i]);
        took += undrained[i];
    }
    if (turn != nullptr) {
        turn->undrained_took += took;
        turn->busy += competitors[turn->slot].was_busy ? dt : 0;
    } else if (idle_slices) {
        competitors.pass_idle_slices(dt);
    }
    const Nanos charged_before = turn != nullptr ? turn->charged : 0;
    const bool occupied = turn != nullptr && turn->contended && competitors[turn->slot].was_busy;
    for (std::size_t i = 0; i < kSlots; ++i) {
        if (competitors[i].present) pass_slot(competitors, i, readings[i], now, dt, turn, took);
    }
    const Nanos held = held_up(competitors, turn, dt, charged_before);
    competitors.bucket().pass(dt - held);
    if (occupied)
        competitors[turn->slot].achieved.granted +=
            std::max<Nanos>(0, dt * tuning_.least_percent / 100 - took - held);
    if (turn != nullptr && !turn->contended) competitors.forgive(turn->slot);
    note_activity(competitors, turn, now);
}

void ComputeAccounting::pass_slot(Competitors& competitors, std::size_t slot, const Reading& reading,
                                  Nanos now, Nanos dt, Turn* turn, Nanos undrained_took) {
    Slot& s = competitors[slot];
    const bool was_busy = s.filter.busy();
    const bool holds = turn != nullptr && turn->slot == slot;
    if (s.held && s.level().wants) s.achieved.waited += dt;
    const Reading before = s.level();
    Nanos fresh = undrained_.absorb(slot, s.filter.read(reading, dt));
    const Reading& level = s.level();
    if (level.used != before.used || level.in_flight_estimate < before.in_flight_estimate) {
        s.stuck.moved(now);
    }
    if (holds) turn->waited += s.filter.fresh_wait();
    // Sums over several processes undercount overlapping intervals: the turn is charged by its wall time.
    if (holds && !level.alone_process) fresh = was_busy ? std::max<Nanos>(0, dt - undrained_took) : 0;
    if (holds && turn->contended) s.took += fresh;
    competitors.charge(slot, fresh);
    if (holds) turn->charged += fresh;
    if (level.in_flight_estimate > 0) return;
    s.trust.drained(now);
    const Nanos correction = undrained_.settle(slot, now);
    // A stopped process has reported nothing; that doesn't mean that it used nothing.
    if (!level.stale) competitors.charge(slot, correction);
}

void ComputeAccounting::settle(Competitors& competitors, Turn& turn, Nanos now) {
    const std::size_t slot = turn.slot;
    Slot& s = competitors[slot];
    const Reading& level = s.level();
    const Nanos elapsed = now - turn.start;
    const auto charge = [&](Nanos used) {
        competitors.charge(slot, used);
        turn.charged += used;
    };
    Nanos ahead = 0;
    s.took += level.in_flight_estimate;
    if (level.in_flight_estimate > 0 && level.alone_process) {
        ahead = std::min(s.has_run(), elapsed);
        // Beyond its estimate no other instance ran meanwhile: the time that isn't charged yet went into this
        // work.
        const Nanos unaccounted = turn.busy - turn.undrained_took - turn.charged;
        if (now >= turn.drain_deadline) ahead = std::max(ahead, unaccounted);
        charge(ahead);
    }
    const Nanos overrun = std::min(s.filter.stalled(), elapsed - turn.charged);
    const Nanos others = std::clamp<Nanos>(overrun, 0, turn.undrained_took);
    // The measured time of the turn includes the time that undrained work took.
    const Nanos twice =
        std::clamp<Nanos>(turn.charged + turn.undrained_took - elapsed, 0, turn.undrained_took);
    charge(-twice);
    const Nanos least = least_price(competitors, turn, elapsed);
    if (turn.charged < least) competitors.charge_without_use(slot, least - turn.charged);
    if (level.in_flight_estimate == 0) return;
    const Nanos refundable = std::max<Nanos>(0, turn.charged - least);
    undrained_.add(slot, now, {level.remaining, ahead, refundable, others, level.alone_process},
                   {tuning_.driver_slice, competitors.period()});
}

}  // namespace cgpu::schedule
