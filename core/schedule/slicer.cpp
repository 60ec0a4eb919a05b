#include "core/schedule/slicer.hpp"

#include <algorithm>
#include <cassert>

namespace cgpu::schedule {

namespace {
Settings within_bounds(Settings settings) {
    settings.max_inst = std::clamp(settings.max_inst, 1, static_cast<int>(kSlots));
    settings.prio_ratio = std::clamp(settings.prio_ratio, 20, 99);
    return settings;
}
}  // namespace

Slicer::Slicer(const Settings& settings)
    : settings_(within_bounds(settings)), rules_(rules_of(settings_.policy)) {
    bucket_.resize(settings_.prio_ratio, settings_.tuning.priority_burst);
    refresh_weights();
}

void Slicer::set_policy(model::Policy policy) {
    if (policy == settings_.policy) return;
    settings_.policy = policy;
    rules_ = rules_of(policy);
    refresh_weights();
    end_turn_ = true;
    // What went by under other rules burnt nobody's slices.
    nobodys_ = false;
    if (!rules_.enforced) turn_.reset();
}

void Slicer::set_max_inst(int max_inst) {
    const int before = settings_.max_inst;
    settings_.max_inst = max_inst;
    settings_ = within_bounds(settings_);
    if (settings_.max_inst == before) return;
    refresh_weights();
    end_turn_ = true;
}

void Slicer::set_prio_ratio(int percent) {
    const int before = settings_.prio_ratio;
    settings_.prio_ratio = percent;
    settings_ = within_bounds(settings_);
    if (settings_.prio_ratio == before) return;
    bucket_.resize(settings_.prio_ratio, settings_.tuning.priority_burst);
}

void Slicer::join(std::size_t slot, int weight, bool high_priority) {
    assert(slot < kSlots);
    leave(slot);
    Slot& s = slots_[slot];
    s.present = true;
    s.high_priority = high_priority;
    s.weight = std::max(0, weight);
    s.idle_since = now_;
    group(slot).enter(slot);
    refresh_weights();
}

void Slicer::leave(std::size_t slot) {
    assert(slot < kSlots);
    slots_[slot] = {};
    undrained_.forget(slot);
    // Its work may run on for a moment, but there is nobody left to charge or to wait for.
    if (turn_ && turn_->slot == slot) turn_.reset();
    refresh_weights();
}

void Slicer::set_weight(std::size_t slot, int weight) {
    assert(slot < kSlots);
    if (!slots_[slot].present) return;
    slots_[slot].weight = std::max(0, weight);
    refresh_weights();
    end_turn_ = end_turn_ || (turn_ && turn_->slot == slot);
}

void Slicer::set_high_priority(std::size_t slot, bool high_priority) {
    assert(slot < kSlots);
    Slot& s = slots_[slot];
    if (!s.present || s.high_priority == high_priority) return;
    s.high_priority = high_priority;
    group(slot).enter(slot);
    refresh_weights();
    end_turn_ = end_turn_ || (turn_ && turn_->slot == slot);
}

Decision Slicer::step(Nanos now, const Readings& readings, const GangStates& gangs) {
    const Nanos dt = started_ ? std::max<Nanos>(0, now - now_) : 0;
    now_ = started_ ? now_ + dt : now;
    started_ = true;
    gangs_ = gangs;
    account(readings, dt);
    if (now_ > due_ && now_ - due_ >= settings_.tuning.silence) begin_anew();
    look_for_stuck();
    if (!rules_.enforced) return all_free();
    if (turn_) {
        turn_->contended = contended();
        turn_->called = turn_->called || gangs_[turn_->slot].lead == Lead::called;
        if (!turn_->closed_at && turn_is_up()) close_gate();
        if (turn_->closed_at && may_hand_over()) hand_over();
    }
    if (!turn_) {
        end_turn_ = false;
        pick_next();
    }
    nobodys_ = !turn_ && !rules_.work_conserving;
    const Decision decision = decide();
    due_ = decision.wake_at;
    return decision;
}

void Slicer::begin_anew() {
    // Whatever they used meanwhile no gate kept from others, so nobody has to make up for it.
    for (std::size_t i = 0; i < kSlots; ++i) {
        if (slots_[i].present) group(i).enter(i);
        slots_[i].took = 0;
    }
    ordinary_.enter(VirtualTime::kSpare);
    refresh_weights();
    if (turn_) begin_turn(turn_->slot, turn_->priority);
}

int Slicer::weight_of(const Slot& slot) const {
    if (!slot.present || slot.weight == 0) return 0;
    return rules_.weighted ? slot.weight : 1;
}

bool Slicer::wants(std::size_t slot) const {
    const Slot& s = slots_[slot];
    // What runs behind its closed gate may wait for what is held on another GPU: only turns on both bring it
    // on.
    const bool caught = may_wait_for_others(slot) && s.outside && s.meter.level().in_flight_estimate > 0;
    return weight_of(s) > 0 && (s.meter.level().wants || caught);
}

VirtualTime& Slicer::group(std::size_t slot) { return slots_[slot].high_priority ? priority_ : ordinary_; }

const VirtualTime& Slicer::group(std::size_t slot) const {
    return slots_[slot].high_priority ? priority_ : ordinary_;
}

VirtualTime::Entries Slicer::idle_entries() const {
    VirtualTime::Entries idle;
    for (std::size_t i = 0; i < kSlots; ++i) idle[i] = !wants(i);
    idle[VirtualTime::kSpare] = true;
    return idle;
}

int Slicer::ordinary_present() const {
    return static_cast<int>(std::count_if(slots_.begin(), slots_.end(), [this](const Slot& s) {
        return !s.high_priority && weight_of(s) > 0;
    }));
}

void Slicer::refresh_weights() {
    int given = 0;
    for (std::size_t i = 0; i < kSlots; ++i) {
        const int weight = weight_of(slots_[i]);
        ordinary_.set_weight(i, slots_[i].high_priority ? 0 : weight);
        priority_.set_weight(i, slots_[i].high_priority ? weight : 0);
        // A high-priority one's slices aren't anybody's while it is away: it stands for them in the spare
        // ones.
        given += slots_[i].high_priority ? 0 : weight;
    }
    const int spare = rules_.spare_burns ? std::max(0, settings_.max_inst - given) : 0;
    ordinary_.set_weight(VirtualTime::kSpare, spare);
}

void Slicer::account(const Readings& readings, Nanos dt) {
    const UndrainedWork::Charges undrained = undrained_.pass(dt);
    Nanos took = 0;
    for (std::size_t i = 0; i < kSlots; ++i) {
        if (undrained[i] > 0) charge(i, undrained[i]);
        took += undrained[i];
    }
    if (turn_) {
        turn_->undrained_took += took;
        turn_->busy += slots_[turn_->slot].was_busy ? dt : 0;
    } else if (nobodys_) {
        ordinary_.pass(dt, idle_entries());
    }
    const Nanos charged_before = turn_ ? turn_->charged : 0;
    for (std::size_t i = 0; i < kSlots; ++i) {
        if (slots_[i].present) account_slot(i, readings[i], dt, took);
    }
    bucket_.pass(dt - held_up(dt, charged_before));
    // What a lone holder used was nobody else's: it isn't ahead of instances that come next.
    if (turn_ && !turn_->contended) group(turn_->slot).advance_clock(turn_->slot);
    for (std::size_t i = 0; i < kSlots; ++i) {
        Slot& s = slots_[i];
        if (!s.present) continue;
        const bool busy = s.meter.busy();
        const bool back = busy && !s.was_busy;
        if (back && (rules_.work_conserving || s.high_priority)) group(i).catch_up(i);
        if (back) s.woke = !turn_ || turn_->slot != i;
        if (!busy && s.was_busy) s.idle_since = now_;
        if (!busy) s.woke = false;
        s.was_busy = busy;
    }
}

Nanos Slicer::held_up(Nanos dt, Nanos charged_before) const {
    if (!turn_ || turn_->closed_at || slots_[turn_->slot].high_priority) return 0;
    const Meter& meter = slots_[turn_->slot].meter;
    const Nanos running = meter.level().in_flight_estimate - meter.level().remaining;
    const Nanos without_work = std::max<Nanos>(0, dt - running - (turn_->charged - charged_before));
    const Nanos believed = dt - dt * settings_.tuning.least_late_cost_percent / 100;
    return std::min({meter.fresh_wait(), without_work, believed});
}

void Slicer::account_slot(std::size_t slot, const Reading& reading, Nanos dt, Nanos undrained_took) {
    Slot& s = slots_[slot];
    const bool was_busy = s.meter.busy();
    const bool holds = turn_ && turn_->slot == slot;
    if (s.held && s.meter.level().wants) s.achieved.waited += dt;
    const Reading before = s.meter.level();
    Nanos fresh = undrained_.absorb(slot, s.meter.read(reading, dt));
    const Reading& level = s.meter.level();
    if (level.used != before.used || level.in_flight_estimate < before.in_flight_estimate) moved(s);
    if (holds) turn_->waited += s.meter.fresh_wait();
    // Sums over processes count nested intervals too little: the turn's wall time is what it took.
    if (holds && !level.alone_process) fresh = was_busy ? std::max<Nanos>(0, dt - undrained_took) : 0;
    if (holds && turn_->contended) s.took += fresh;
    charge(slot, fresh);
    if (holds) turn_->charged += fresh;
    if (level.in_flight_estimate > 0) return;
    s.trust.drained(now_);
    const Nanos correction = undrained_.settle(slot, now_);
    // A stopped process has reported nothing, which isn't the same as having used nothing.
    if (!level.stale) charge(slot, correction);
}

void Slicer::charge(std::size_t slot, Nanos used) {
    if (used == 0) return;
    slots_[slot].achieved.used += used;
    charge_without_use(slot, used);
}

Nanos Slicer::period() const { return settings_.max_inst * settings_.tuning.slice; }

Nanos Slicer::gang_debt(std::size_t slot) const { return ganged(slot) ? 3 * settings_.tuning.gang_slack : 0; }

Nanos Slicer::most_debt(std::size_t slot) const {
    // Overuse is what goes beyond the turn; it is repaid up to one period (S4). In a gang some is on purpose.
    const Nanos usual = period() + turn_length(slot) + gang_debt(slot);
    // A kernel longer than that is repaid whole. What kernels of a gang take may be spent waiting for others.
    return ganged(slot) ? usual : std::max(usual, slots_[slot].took);
}

void Slicer::charge_without_use(std::size_t slot, Nanos cost) {
    group(slot).charge(slot, cost, most_debt(slot));
    if (slots_[slot].high_priority) bucket_.charge(cost);
}

std::optional<std::size_t> Slicer::holder() const {
    return turn_ ? std::optional(turn_->slot) : std::nullopt;
}

std::optional<double> Slicer::target_share(std::size_t slot) const {
    if (!rules_.enforced) return std::nullopt;
    const Slot& own = slots_[slot];
    int total = 0;
    bool priority_busy = false;
    for (const Slot& s : slots_) {
        priority_busy = priority_busy || (s.high_priority && s.was_busy && weight_of(s) > 0);
        const bool counts = s.high_priority || rules_.work_conserving ? s.was_busy : true;
        if (s.high_priority == own.high_priority && counts) total += weight_of(s);
    }
    const int weight = weight_of(own);
    if (weight == 0 || total == 0) return 0.0;
    const double ratio = settings_.prio_ratio / 100.0;
    if (own.high_priority) return own.was_busy ? ratio * weight / total : 0.0;
    if (rules_.work_conserving && !own.was_busy) return 0.0;
    const int whole = rules_.spare_burns ? std::max(settings_.max_inst, total) : total;
    return (priority_busy ? 1 - ratio : 1.0) * weight / whole;
}

}  // namespace cgpu::schedule
