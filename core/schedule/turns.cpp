#include "core/schedule/turns.hpp"

#include <algorithm>

namespace cgpu::schedule {

namespace {
// An open holder is polled no more often than this: its readings change by whole batches.
constexpr Nanos kLook = 200 * kMicro;
/// While undrained work runs beside a holder whom nobody waits for, this often is looked how much the holder
/// has to do: as often as the driver switches between the two.
constexpr Nanos kLookBeside = 4 * kMilli;

/// By how much GPU time an instance is ahead through its work in flight.
Nanos ahead(const Slot& slot) { return slot.gang.ganged() ? 0 : slot.level().in_flight_estimate; }
}  // namespace

void Turns::step(Competitors& competitors, ComputeAccounting& accounting, Nanos now) {
    competitors.note_work(now);
    if (turn_) {
        turn_->contended = contended(competitors);
        turn_->called = turn_->called || competitors[turn_->slot].gang.called();
        if (const EndRule* rule = turn_->closed_at ? nullptr : is_up(competitors, now)) {
            end_by(*rule);
            close_gate(competitors, accounting.undrained().count(), now);
        }
        if (turn_->closed_at && may_hand_over(competitors, now)) {
            accounting.settle(competitors, *turn_, now);
            last_holder_ = turn_->slot;
            turn_.reset();
        }
    }
    if (!turn_) {
        end_soon_ = false;
        pick_next(competitors, accounting, now);
    }
    idle_slices_ = !turn_ && !competitors.rules().work_conserving;
}

bool Turns::contended(const Competitors& competitors) const {
    const std::size_t holder = turn_->slot;
    for (std::size_t i = 0; i < kSlots; ++i) {
        if (i != holder && competitors.wants(i)) return true;
    }
    if (competitors.rules().work_conserving) return false;
    // Unused slices are withheld from the holder as if an instance used them.
    const int self = competitors[holder].high_priority ? 0 : 1;
    return competitors.ordinary_present() > self || competitors.spare_slices();
}

Nanos Turns::limit(const Competitors& competitors) const {
    // The measured time of a kernel that waits for another is no basis for a plan: the turn of a gang ends by
    // the clock.
    const bool ganged = competitors[turn_->slot].gang.ganged();
    return turn_->contended && !ganged ? turn_->base + turn_->budget : kForever;
}

Nanos Turns::consumed(const Competitors& competitors, Nanos now) const {
    const Slot& holder = competitors[turn_->slot];
    const Nanos elapsed = now - turn_->start;
    if (holder.gang.ganged()) return elapsed;
    return std::max(holder.filter.reached() - turn_->base, elapsed);
}

std::optional<std::size_t> Turns::urgent(const Competitors& competitors) const {
    if (turn_ && turn_->priority) return std::nullopt;
    const auto first = competitors.first_waiting(true, last_holder_);
    if (!first || competitors.bucket().level() < tuning_.preempt_after) return std::nullopt;
    if (turn_ && competitors[turn_->slot].high_priority) return std::nullopt;
    return first;
}

bool Turns::overtaken(const Competitors& competitors, Nanos now) const {
    const Nanos after = tuning_.preempt_after;
    if (turn_->priority || consumed(competitors, now) < after) return false;
    const double own = competitors.place(turn_->slot, ahead(competitors[turn_->slot]));
    for (std::size_t i = 0; i < kSlots; ++i) {
        const Slot& s = competitors[i];
        const bool waking = s.woke && !s.high_priority && competitors.wants(i);
        if (waking && competitors.place(i, after / 2) <= own) return true;
    }
    return false;
}

bool Turns::another_is_called(const Competitors& competitors) const {
    const std::size_t holder = turn_->slot;
    if (turn_->priority || competitors[holder].gang.called()) return false;
    const double own = competitors.place(holder, ahead(competitors[holder]));
    for (std::size_t i = 0; i < kSlots; ++i) {
        const bool called = i != holder && competitors[i].gang.called() && competitors.wants(i);
        if (called && competitors.place(i, 0) <= own) return true;
    }
    return false;
}

/// What a rule looks at.
struct Turns::Moment {
    const Turns& turns;
    const Turn& turn;
    const Slot& holder;
    const Competitors& all;
    Nanos now;
};

struct Turns::EndRule {
    TurnEnd name;
    bool holds_alone;  ///< also while nobody else wants the GPU; by the others a turn ends for somebody
    bool cuts_short;   ///< the holder is owed the rest, and its turn isn't prolonged
    bool (*applies)(const Moment& at);
};

/// When a turn is up: the first of these rules that applies ends it. None of them changes anything.
const Turns::EndRule* Turns::is_up(const Competitors& competitors, Nanos now) const {
    static constexpr EndRule kEndRules[] = {
        // Under the new settings the turn would have another length, or wouldn't have begun.
        {TurnEnd::settings_changed, true, false, [](const Moment& at) { return at.turns.end_soon_; }},
        // The length of a turn is the holder's share. Time counts as well as reported work: otherwise
        // kernels that wait for each other across GPUs would deadlock, and who reports nothing would keep
        // the GPU.
        {TurnEnd::budget_used, false, false,
         [](const Moment& at) { return at.turns.consumed(at.all, at.now) >= at.turn.budget; }},
        // High priority is above the shares only as long as its bucket lasts, and what it has in flight
        // will be taken from that, too.
        {TurnEnd::bucket_empty, false, false,
         [](const Moment& at) {
             return at.turn.priority && at.all.bucket().level() <= at.holder.level().in_flight_estimate;
         }},
        // While its bucket lasts, high priority begins at once.
        {TurnEnd::high_priority_waits, false, true,
         [](const Moment& at) { return at.turns.urgent(at.all).has_value(); }},
        // A gang has its turns on all its GPUs at the same time: if the turn is over on the leading one, the
        // rest of it here would be spent waiting.
        {TurnEnd::gang_dismissed, false, false,
         [](const Moment& at) { return at.turn.called && at.holder.gang.dismissed(); }},
        // For the same reason the turn of a gang that has begun on its leading GPU begins here, too.
        {TurnEnd::other_gang_called, false, false,
         [](const Moment& at) { return at.turns.another_is_called(at.all); }},
        // Others have a use for time in which the holder has no work. Its next launch often comes at once,
        // so there is a grace time. Where slices are fixed, unused ones belong to the holder all the same;
        // but not in a turn of high priority, whose time is the others'.
        {TurnEnd::holder_idle, false, false,
         [](const Moment& at) {
             return (at.all.rules().work_conserving || at.turn.priority) && !at.holder.was_busy &&
                    at.now - at.holder.idle_since >= at.turns.tuning_.idle_grace;
         }},
        // Its program waits for the GPU and usually pauses for long afterwards: then it needs no grace time,
        // and the next one begins as soon as its work has drained.
        {TurnEnd::holder_pauses, false, false,
         [](const Moment& at) {
             const Reading& level = at.holder.level();
             return at.all.rules().work_conserving && level.syncing &&
                    level.usual_gap > at.turns.tuning_.worthwhile_gap;
         }},
        // One that wakes up and is behind has waited for its share already: short bursts don't wait for the
        // end of a long turn.
        {TurnEnd::overtaken, false, true,
         [](const Moment& at) {
             return at.all.rules().work_conserving && at.turns.overtaken(at.all, at.now);
         }},
    };
    const Moment moment{*this, *turn_, competitors[turn_->slot], competitors, now};
    for (const EndRule& rule : kEndRules) {
        if ((turn_->contended || rule.holds_alone) && rule.applies(moment)) return &rule;
    }
    return nullptr;
}

void Turns::end_by(const EndRule& rule) {
    turn_->cut_short = rule.cuts_short;
    last_end_ = rule.name;
}

void Turns::close_gate(Competitors& competitors, int undrained, Nanos now) {
    Slot& holder = competitors[turn_->slot];
    const Reading& level = holder.level();
    // Beside undrained work the holder gets only part of the GPU. If it were also handed over early, its own
    // work would become undrained too; with long kernels this would never end. So it gets as many times as
    // long as instances have work in flight.
    const auto others = std::ranges::count_if(competitors.slots(), [&](const Slot& s) {
        return &s != &holder && s.level().in_flight_estimate > 0;
    });
    const Nanos sharers = 1 + std::max<Nanos>(undrained, others);
    Nanos patience = sharers * (2 * level.remaining + drains_.slack);
    if (level.unmeasured) patience = std::max(patience, drains_.unmeasured);
    turn_->closed_at = now;
    turn_->drain_deadline =
        now + std::min(patience, std::min<Nanos>(sharers, tuning_.most_sharers) * drains_.longest);
    // The others aren't held meanwhile, so its work takes as many times as long.
    if (holder.doubt.is()) {
        const auto busy = std::count_if(competitors.slots().begin(), competitors.slots().end(),
                                        [](const Slot& s) { return s.was_busy && !s.doubt.is(); });
        turn_->drain_deadline = now + std::min<Nanos>(1 + busy, tuning_.most_sharers) * drains_.doubted;
    }
    if (level.remaining > 0) holder.trust.predict(now + level.remaining);
    if (turn_->cut_short) ++holder.achieved.preemptions;
    end_soon_ = false;
}

/// Whether the holder would be next if it wanted to be, and may not have seen yet that its gate is closed: a
/// program whose window is full launches again only when some of its work is done.
bool Turns::may_want_more(const Competitors& competitors, Nanos now) const {
    const std::size_t slot = turn_->slot;
    const Slot& holder = competitors[slot];
    if (!competitors.rules().work_conserving || turn_->cut_short || turn_->priority) return false;
    if (holder.level().wants || holder.level().syncing || urgent(competitors)) return false;
    const auto first = next(competitors);
    const Nanos unpaid = std::max(ahead(holder), now - turn_->start - turn_->charged);
    return first && competitors.place(slot, unpaid) < competitors.place(*first, 0);
}

bool Turns::may_hand_over(const Competitors& competitors, Nanos now) const {
    const Slot& holder = competitors[turn_->slot];
    if (now >= turn_->drain_deadline) return true;
    if (holder.doubt.is()) return false;  // what it has in flight isn't known
    // The turn of one that is doubted doesn't hold this one: its gate needn't close, so that its work isn't
    // interrupted beside that of the other.
    if (const auto first = next(competitors); competitors.doubted() && first) {
        if (first == turn_->slot || competitors[*first].doubt.is()) return true;
    }
    if (may_want_more(competitors, now))
        return !holder.was_busy && now - holder.idle_since >= tuning_.idle_grace;
    if (holder.level().in_flight_estimate == 0) return true;
    // Overlap makes measurements inexact. It is accepted for an instance that wakes up, not for one that
    // waits for its bucket to fill.
    if (const auto high = urgent(competitors); high && competitors[*high].woke) return true;
    return holder.predictable(drains_.trusted_error) && holder.level().remaining <= tuning_.lead;
}

void Turns::pick_next(Competitors& competitors, ComputeAccounting& accounting, Nanos now) {
    const Rules& rules = competitors.rules();
    after_idle_slices_.reset();
    if (const auto high = urgent(competitors)) return begin(competitors, accounting, *high, true, now);
    const auto first = next(competitors);
    if (!first) {
        // The bucket limits what high priority takes from others, so it doesn't apply here; but slices that
        // nobody uses stay idle by the policy's rule.
        const bool free =
            rules.work_conserving || (competitors.ordinary_present() == 0 && !rules.spare_burns);
        const auto high = competitors.first_waiting(true, last_holder_);
        if (high && free) begin(competitors, accounting, *high, false, now);
        return;
    }
    // One microsecond: a rounding error must not cost another step.
    if (!rules.work_conserving && competitors.idle_slices_until(*first) > kMicro) {
        after_idle_slices_ = first;
        return;
    }
    begin(competitors, accounting, *first, false, now);
}

void Turns::begin(Competitors& competitors, ComputeAccounting& accounting, std::size_t slot, bool priority,
                  Nanos now) {
    Slot& s = competitors[slot];
    accounting.resume(slot);
    Turn turn;
    turn.slot = slot;
    turn.priority = priority;
    turn.start = now;
    turn.base = s.filter.reached();
    turn.budget = competitors.turn_length(slot);
    if (priority) {
        turn.budget = std::min(turn.budget, std::max(competitors.bucket().lasts(), tuning_.preempt_after));
    }
    turn_ = turn;
    turn_->contended = contended(competitors);
    competitors.turn_begins(slot);
    s.woke = false;
    s.took = 0;
    ++s.achieved.turns;
}

void Turns::begin_anew(Competitors& competitors, ComputeAccounting& accounting, Nanos now) {
    if (!turn_) return;
    const std::size_t slot = turn_->slot;
    begin(competitors, accounting, slot, turn_->priority, now);
    end_soon_ = end_soon_ || competitors.weight(slot) == 0;  // it was drained after its weight was taken
}

Lead Turns::lead(const Competitors& competitors, std::size_t slot) const {
    const Slot& s = competitors[slot];
    if (!s.was_busy || !s.gang.ganged()) return Lead::none;
    if (!turn_ && competitors.rules().work_conserving) return Lead::none;
    if (!holds(slot)) return Lead::held;
    if (turn_->closed_at) return Lead::leaving;
    // A lone holder may keep its turn for long: any time suits the instance's other GPUs.
    return turn_->contended ? Lead::called : Lead::none;
}

Nanos Turns::wake_at(const Competitors& competitors, bool undrained, Nanos now) const {
    Nanos at = kForever;
    const bool ending = turn_ && turn_->closed_at;
    const bool high_holds = turn_ && competitors[turn_->slot].high_priority;
    // High priority that waits for its bucket to fill.
    if (!ending && !high_holds && competitors.first_waiting(true, last_holder_)) {
        at = now + competitors.bucket().time_to(tuning_.preempt_after);
    }
    if (turn_) return std::min(at, turn_wake_at(competitors, undrained, now));
    if (after_idle_slices_) at = std::min(at, now + competitors.idle_slices_until(*after_idle_slices_));
    return at;
}

Nanos Turns::turn_wake_at(const Competitors& competitors, bool undrained, Nanos now) const {
    const Slot& holder = competitors[turn_->slot];
    const Nanos remaining = holder.level().remaining;
    if (turn_->closed_at) {
        if (may_want_more(competitors, now)) {
            const Nanos done = holder.was_busy ? now + std::max(remaining, kLook) : holder.idle_since;
            return std::min(turn_->drain_deadline, done + tuning_.idle_grace);
        }
        // If work runs beyond its estimate, the rest doesn't change: poll less and less often then.
        const Nanos stalled = std::min(holder.filter.stalled() / 2, kMilli);
        const Nanos wait = holder.predictable(drains_.trusted_error)
                               ? std::max(remaining - tuning_.lead, stalled)
                               : std::max(remaining, kMilli);
        return std::min(turn_->drain_deadline, now + wait);
    }
    if (!turn_->contended) return undrained ? now + kLookBeside : kForever;
    Nanos at = turn_->start + turn_->budget;
    if (const Nanos most = limit(competitors); most != kForever) {
        const Nanos left = most - holder.filter.reached();
        at = std::min(at, now + std::max(left + remaining - tuning_.lead, kLook));
    }
    if (!competitors.rules().work_conserving && !turn_->priority) return at;
    if (!holder.was_busy) at = std::min(at, holder.idle_since + tuning_.idle_grace);
    if (competitors.any_woke()) {
        at = std::min(at, now + std::max(tuning_.preempt_after - consumed(competitors, now), kLook));
    }
    return at;
}

}  // namespace cgpu::schedule
