#include "core/schedule/compute_accounting.hpp"

#include <algorithm>
#include <utility>

namespace cgpu::schedule {

namespace {
/// So much of a turn beside undrained work goes into the driver's switches between contexts, and into waits
/// for the end of a slice.
constexpr Nanos kSwitchesPart = 8;

/// Notes which instances have returned to work or have become idle.
void note_activity(Competitors& competitors, const Turn* turn, Nanos now) {
    for (std::size_t i = 0; i < kSlots; ++i) {
        Slot& s = competitors[i];
        if (!s.present) continue;
        if (competitors.wants(i) || (turn != nullptr && turn->slot == i)) s.competed_at = now;
        const bool busy = s.filter.busy();
        const bool back = busy && !s.was_busy;
        // Its last work may have been reported before its next launch is.
        const bool was_idle = back && now - s.idle_since > competitors.short_pause();
        if (was_idle && (competitors.rules().work_conserving || s.high_priority)) competitors.catch_up(i);
        if (back) s.woke = turn == nullptr || turn->slot != i;
        if (!busy && s.was_busy) s.idle_since = now;
        if (!busy) s.woke = false;
        s.was_busy = busy;
    }
}
}  // namespace

/// The part of dt for which an ordinary holder was late: its gate was open and its launches waited, but none
/// of its work ran. The high-priority bucket doesn't fill meanwhile.
Nanos ComputeAccounting::held_up(const Competitors& competitors, const Turn* turn, Nanos now, Nanos dt,
                                 Nanos charged_before) const {
    if (turn == nullptr || turn->closed_at || competitors[turn->slot].high_priority) return 0;
    const Slot& holder = competitors[turn->slot];
    const Nanos without_work = std::max<Nanos>(0, dt - holder.has_run() - (turn->charged - charged_before));
    const Nanos believed = dt - dt * tuning_.least_late_percent / 100;
    const Nanos left = late_.allowed(turn->slot, turn->held, now) - turn->held_up;
    return std::min({holder.filter.fresh_wait(), without_work, believed, std::max<Nanos>(0, left)});
}

/// The same for a whole turn. Empty while a kernel runs beyond its estimate: it is unknown then whether the
/// GPU is idle.
std::optional<Nanos> ComputeAccounting::claimed_late(const Slot& holder, const Turn& turn) const {
    const bool measured = holder.level().in_flight_estimate == 0 || holder.predictable(trusted_error_);
    if (!measured || turn.held == 0) return std::nullopt;
    // While undrained work of others runs, too, the holder waits for that, not for the host.
    const Nanos without_work = std::max<Nanos>(0, turn.held - turn.beside - turn.paid);
    const Nanos most = turn.held - turn.held * tuning_.least_late_percent / 100;
    return std::min({without_work, turn.waited, most});
}

/// The minimum price of a turn, whatever was reported of it. An instance that reports too little would go
/// first for ever; and in policies with turns of fixed length, an instance that can't fill its own turn must
/// not get others' in exchange. Nor does it matter whether it claims to have work: the others waited.
Nanos ComputeAccounting::least_price(const Competitors& competitors, const Turn& turn, Nanos late) const {
    const Slot& holder = competitors[turn.slot];
    // If a high-priority turn were cheaper than what flows into the bucket meanwhile, it would never empty
    // the bucket.
    const bool whole = turn.priority || holder.doubt.is() || !competitors.rules().work_conserving;
    const Nanos unused = whole ? 0 : turn.held - turn.held * tuning_.least_percent / 100;
    // The driver's switches between contexts are nobody's use.
    const Nanos switches = turn.beside > turn.held / 4 ? (turn.held - turn.beside) / kSwitchesPart : 0;
    const Nanos least = std::max<Nanos>(0, turn.held - std::max({unused, late, switches}) - turn.beside);
    const bool ran_out = competitors.rules().work_conserving && turn.held > 0 && !turn.cut_short;
    return ran_out ? std::max(least, tuning_.least_turn) : least;
}

/// What is let through outside a turn runs beside the holder, and the driver divides the time. The holder's
/// measured time includes it, and it isn't the holder's use. `left`: the part of dt that isn't undrained
/// work's.
Nanos ComputeAccounting::let_out_took(const Competitors& competitors, const Turn* turn,
                                      const UndrainedWork::Times& undrained, Nanos left) {
    if (turn == nullptr) return 0;
    const auto passes = [&](std::size_t i) {
        const Slot& s = competitors[i];
        return i != turn->slot && s.let_out && !s.gang.ganged();
    };
    Nanos count = 0;
    for (std::size_t i = 0; i < kSlots; ++i) count += passes(i) ? 1 : 0;
    Nanos took = 0;
    for (std::size_t i = 0; i < kSlots && count > 0; ++i) {
        if (passes(i)) took += std::max<Nanos>(0, left / (count + 1) - undrained[i]);
    }
    return took;
}

/// How long the holder of the turn worked in dt. If others wait, its turn ends soon when it has no work, and
/// what it reports of that is only its claim, by which they would pay for it.
Nanos ComputeAccounting::worked(const Competitors& competitors, const Turn* turn, Nanos dt) {
    if (turn == nullptr) return 0;
    return turn->contended ? dt : competitors[turn->slot].filter.worked();
}

/// Of one slot, when a step begins.
struct ComputeAccounting::Before {
    Nanos used = 0, in_flight = 0;
    bool busy = false;
    Nanos fresh = 0;  ///< measured since
};

void ComputeAccounting::pass(Competitors& competitors, const Readings& readings, Nanos now, Nanos dt,
                             Turn* turn, bool idle_slices) {
    if (turn == nullptr && idle_slices) competitors.pass_idle_slices(dt);
    std::array<Before, kSlots> before;
    for (std::size_t i = 0; i < kSlots; ++i) {
        Slot& s = competitors[i];
        if (!s.present) continue;
        const Reading& level = s.level();
        before[i] = {level.used, level.in_flight_estimate, s.filter.busy()};
        before[i].fresh = s.filter.read(readings[i], dt);
        s.beside = s.beside || s.level().unsettled;
    }
    const auto [ran, undrained] = undrained_.pass(dt, worked(competitors, turn, dt));
    Nanos took = 0;
    for (std::size_t i = 0; i < kSlots; ++i) {
        competitors.charge(i, undrained[i]);
        competitors.count_use(i, ran[i] - undrained[i]);
        took += ran[i];
    }
    took += let_out_took(competitors, turn, ran, dt - took);
    if (turn != nullptr) {
        turn->undrained_took += took;
        turn->busy += competitors[turn->slot].was_busy ? dt : 0;
        turn->held += turn->contended ? dt : 0;
        // Beyond its estimate it isn't known what undrained work takes: as much as the holder, if it runs.
        const Nanos least = turn->contended ? dt - dt / (undrained_.count() + 1) : 0;
        turn->beside += std::max(least, turn->contended ? took : 0);
    }
    const Nanos charged_before = turn != nullptr ? turn->charged : 0;
    const bool occupied = turn != nullptr && turn->contended && competitors[turn->slot].was_busy;
    for (std::size_t i = 0; i < kSlots; ++i) {
        if (competitors[i].present) pass_slot(competitors, i, before[i], now, dt, turn, took, undrained[i]);
    }
    const Nanos held = held_up(competitors, turn, now, dt, charged_before);
    if (turn != nullptr) turn->held_up += held;
    competitors.bucket().pass(dt - held);
    if (occupied)
        competitors[turn->slot].achieved.granted +=
            std::max<Nanos>(0, dt * tuning_.granted_percent / 100 - took - held);
    if (turn != nullptr && !turn->contended) {
        give_back(competitors, *turn, now);
        competitors.forgive(turn->slot, now - competitors.short_pause());
    }
    note_activity(competitors, turn, now);
}

void ComputeAccounting::pass_slot(Competitors& competitors, std::size_t slot, const Before& before, Nanos now,
                                  Nanos dt, Turn* turn, Nanos undrained_took, Nanos own_undrained) {
    Slot& s = competitors[slot];
    const bool holds = turn != nullptr && turn->slot == slot;
    if (s.held && s.level().wants) s.achieved.waited += dt;
    undrained_.set_stopped(slot, s.level().stale);
    const Nanos prepaid = undrained_.prepaid(slot);
    Nanos fresh = undrained_.absorb(slot, before.fresh);
    const Reading& level = s.level();
    if (level.used != before.used || level.in_flight_estimate < before.in_flight) s.stuck.moved(now);
    if (holds && turn->contended) turn->waited += s.filter.fresh_wait();
    // Sums over several processes undercount overlapping intervals: the turn is charged by its wall time.
    if (holds && !level.alone_process) fresh = before.busy ? std::max<Nanos>(0, dt - undrained_took) : 0;
    Doubt::Seen seen;
    seen.dt = dt;
    seen.fresh = std::max<Nanos>(0, level.used - before.used);
    // Of several processes, the turn's time is charged, whatever they measured.
    seen.charged = (level.alone_process ? fresh : seen.fresh) + own_undrained;
    if (holds) turn->measured = std::max(turn->measured, seen.fresh);
    seen.holds = holds && turn->contended;
    seen.open = seen.holds && !turn->closed_at;
    seen.let_out = s.let_out;
    seen.closed = s.held;
    seen.undrained = undrained_.is(slot) || s.beside;
    seen.shared = undrained_.any() || std::ranges::any_of(competitors.slots(), &Slot::beside);
    // It has its turn because a launch waited: that may be gone from its reports, but the work can't be.
    seen.wants = level.wants || (holds && turn->measured == 0);
    seen.in_flight_before = before.in_flight;
    seen.in_flight = level.in_flight_estimate;
    seen.impossible = level.doubtful;
    s.doubt.see(seen, now, doubts_);
    // Beside one that is doubted, what is measured includes the other's work, and it isn't the own turn.
    const bool beside = turn != nullptr && !holds && competitors[turn->slot].doubt.is();
    if (holds ? turn->contended : s.held || s.let_out) s.took += fresh;
    Nanos foreign = beside ? fresh : 0;
    // Nor is what a batch took that began beside it.
    if (holds && competitors.doubted())
        foreign = std::clamp<Nanos>(turn->charged + fresh - (now - turn->start), 0, fresh);
    s.achieved.used += foreign;
    fresh -= foreign;
    competitors.charge(slot, fresh);
    competitors.count_use(slot, -undrained_.counted(slot, fresh));
    if (s.let_out) {
        // What is let through runs beside the holder. A gang's launches may only end what waits for them.
        const Nanos unpaid = std::max<Nanos>(0, dt - fresh - own_undrained);
        if (!s.gang.ganged()) {
            s.took += unpaid;
            competitors.charge_without_use(slot, unpaid);
        }
    }
    if (holds) turn->charged += fresh;
    if (holds && turn->contended) turn->paid += fresh + prepaid - undrained_.prepaid(slot);
    if (level.in_flight_estimate > 0) return;
    s.beside = s.beside && !s.held;
    s.trust.drained(now);
    if (level.stale) return;
    const auto [charge, use] = undrained_.settle(slot, now);
    competitors.charge(slot, charge);
    competitors.count_use(slot, use - charge);
    // What it had more is what the holder had less.
    if (turn != nullptr && !holds) turn->undrained_took = std::max<Nanos>(0, turn->undrained_took + use);
}

/// The measured time of a turn includes the time that undrained work of others took. Returns how much has
/// been paid back now.
Nanos ComputeAccounting::give_back(Competitors& competitors, Turn& turn, Nanos now) {
    const Nanos elapsed = now - turn.start;
    const Nanos twice =
        std::clamp<Nanos>(turn.charged + turn.undrained_took - elapsed, 0, turn.undrained_took);
    const Nanos more = twice - std::exchange(turn.given_back, twice);
    competitors.charge(turn.slot, -more);
    return more;
}

void ComputeAccounting::settle(Competitors& competitors, Turn& turn, Nanos now) {
    const std::size_t slot = turn.slot;
    Slot& s = competitors[slot];
    const Reading& level = s.level();
    const Nanos elapsed = now - turn.start;
    const auto charge = [&](Nanos used) {
        competitors.charge(slot, used);
        turn.charged += used;
        turn.paid += used;
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
    const Nanos theirs = give_back(competitors, turn, now);
    turn.paid -= theirs;
    // The last work of an early hand-over: so long the work that is in flight now can't have run, and it is
    // still to run.
    const bool early = now < turn.drain_deadline && turn.undrained_took <= tuning_.driver_slice;
    const Nanos not_run = early ? std::clamp<Nanos>(theirs, 0, ahead) : 0;
    Nanos late = 0;
    if (const auto claimed = claimed_late(s, turn)) {
        const Nanos most = turn.priority || s.doubt.is() ? 0 : late_.allowed(slot, turn.held, now);
        late = std::min(*claimed, most);
        late_.end(slot, turn.held, *claimed, late, now);
    }
    const Nanos least = least_price(competitors, turn, late);
    if (turn.paid < least) competitors.charge_without_use(slot, least - turn.paid);
    if (level.in_flight_estimate == 0 || s.doubt.is()) return;
    const Nanos refundable = std::max<Nanos>(0, turn.paid - least);
    undrained_.add(slot, now,
                   {level.remaining + not_run, ahead - not_run, refundable, others, level.alone_process},
                   {tuning_.driver_slice, competitors.period()});
}

}  // namespace cgpu::schedule
