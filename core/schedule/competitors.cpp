#include "core/schedule/competitors.hpp"

#include <algorithm>
#include <cmath>

namespace cgpu::schedule {

namespace {
Division within_bounds(Division division) {
    division.max_inst = std::clamp(division.max_inst, 1, static_cast<int>(kSlots));
    division.prio_ratio = std::clamp(division.prio_ratio, 20, 99);
    return division;
}
}  // namespace

Competitors::Competitors(const Division& division, const ShareTuning& tuning)
    : division_(within_bounds(division)), tuning_(tuning), rules_(rules_of(division_.policy)) {
    bucket_.resize(division_.prio_ratio, tuning_.priority_burst);
    refresh_weights();
}

bool Competitors::set_policy(model::Policy policy) {
    if (policy == division_.policy) return false;
    division_.policy = policy;
    rules_ = rules_of(policy);
    ordinary_.begin_even();
    priority_.begin_even();
    refresh_weights();
    return true;
}

bool Competitors::set_max_inst(int max_inst) {
    const int before = division_.max_inst;
    division_.max_inst = max_inst;
    division_ = within_bounds(division_);
    if (division_.max_inst == before) return false;
    refresh_weights();
    return true;
}

bool Competitors::set_prio_ratio(int percent) {
    const int before = division_.prio_ratio;
    division_.prio_ratio = percent;
    division_ = within_bounds(division_);
    if (division_.prio_ratio == before) return false;
    bucket_.resize(division_.prio_ratio, tuning_.priority_burst);
    return true;
}

void Competitors::join(std::size_t slot, Requested requested, bool high_priority, Nanos now) {
    leave(slot);
    Slot& s = slots_[slot];
    s.present = true;
    s.high_priority = high_priority;
    s.requested = requested;
    s.idle_since = now;
    times(slot).enter(slot);
    refresh_weights();
}

void Competitors::leave(std::size_t slot) {
    slots_[slot] = {};
    refresh_weights();
}

void Competitors::set_requested(std::size_t slot, Requested requested) {
    slots_[slot].requested = requested;
    refresh_weights();
}

bool Competitors::set_high_priority(std::size_t slot, bool high_priority) {
    Slot& s = slots_[slot];
    if (!s.present || s.high_priority == high_priority) return false;
    s.high_priority = high_priority;
    times(slot).enter(slot);
    refresh_weights();
    return true;
}

int Competitors::weight_of(const Slot& slot) const {
    if (!slot.present || slot.requested.slices <= 0) return 0;
    return rules_.shares == Shares::equal ? 1 : slot.requested.slices;
}

bool Competitors::wants(std::size_t slot) const {
    const Slot& s = slots_[slot];
    // Work in flight behind a closed gate may depend on a launch that another GPU holds. It finishes only if
    // the instance gets a turn on both GPUs.
    const bool caught = s.gang.may_wait_for_others() && s.stuck.outside() && s.level().in_flight_estimate > 0;
    // While an instance is doubted, the others aren't held during its turns, so they may have work without
    // waiting for a turn.
    const bool passing = doubted() && !s.doubt.is() && s.level().in_flight_estimate > 0;
    // Nor is it believed of one that is doubted that it leaves its slices idle: the others would be held
    // meanwhile.
    const bool unbelieved = s.doubt.is() && !rules_.work_conserving && !s.high_priority;
    return weight_of(s) > 0 && (s.level().wants || caught || passing || unbelieved);
}

VirtualTime& Competitors::times(std::size_t slot) {
    return slots_[slot].high_priority ? priority_ : ordinary_;
}

const VirtualTime& Competitors::times(std::size_t slot) const {
    return slots_[slot].high_priority ? priority_ : ordinary_;
}

VirtualTime::Entries Competitors::idle_entries() const {
    VirtualTime::Entries idle;
    for (std::size_t i = 0; i < kSlots; ++i) idle[i] = !wants(i);
    idle[VirtualTime::kSpare] = true;
    return idle;
}

int Competitors::ordinary_present() const {
    return static_cast<int>(std::count_if(slots_.begin(), slots_.end(), [this](const Slot& s) {
        return !s.high_priority && weight_of(s) > 0;
    }));
}

bool Competitors::doubted() const {
    return std::any_of(slots_.begin(), slots_.end(), [](const Slot& s) { return s.doubt.is(); });
}

bool Competitors::any_woke() const {
    return std::any_of(slots_.begin(), slots_.end(), [](const Slot& s) { return s.woke; });
}

Requests Competitors::requests(bool high_priority) const {
    Requests requests;
    for (std::size_t i = 0; i < kSlots; ++i) {
        const Slot& s = slots_[i];
        if (s.present && s.high_priority == high_priority) requests[i] = s.requested;
    }
    return requests;
}

void Competitors::note_work(Nanos now) {
    if (rules_.shares != Shares::as_requested) return;
    for (std::size_t i = 0; i < kSlots; ++i) {
        const Slot& s = slots_[i];
        competing_[i] = s.competed_at == now;
        late_[i] = now - s.competed_at > tuning_.short_pause;
        working_[i] = weight_of(s) > 0 && (s.was_busy || !late_[i]);
    }
    divide();
}

/// Under proportional: each entry gets its part of the period as its weight.
void Competitors::divide() {
    for (const bool high : {false, true}) {
        VirtualTime::Division division;
        const Requests asked = requests(high);
        Working working;
        for (std::size_t i = 0; i < kSlots; ++i) {
            working[i] = division.working[i] = working_[i] && asked[i].slices > 0;
            division.rest[i] = asked[i].ask == Ask::weight;
            division.competing[i] = working[i] && competing_[i];
            division.late[i] = late_[i];
        }
        const auto parts = proportions(asked, working, division_.max_inst);
        std::copy(parts.begin(), parts.end(), division.weights.begin());
        (high ? priority_ : ordinary_).balance(division, period());
    }
}

void Competitors::refresh_weights() {
    if (rules_.shares == Shares::as_requested) return divide();
    int given = 0;
    for (std::size_t i = 0; i < kSlots; ++i) {
        const int weight = weight_of(slots_[i]);
        ordinary_.set_weight(i, slots_[i].high_priority ? 0 : weight);
        priority_.set_weight(i, slots_[i].high_priority ? weight : 0);
        // The slices of an absent high-priority instance belong to nobody: the spare slices include them.
        given += slots_[i].high_priority ? 0 : weight;
    }
    const int spare = rules_.spare_burns ? std::max(0, division_.max_inst - given) : 0;
    ordinary_.set_weight(VirtualTime::kSpare, spare);
}

/// The turns of instances with the same policy are to each other as their shares. The shortest is a slice.
double Competitors::turn_slices(std::size_t slot) const {
    if (rules_.shares != Shares::as_requested) return std::max(1, weight(slot));
    const VirtualTime& entries = times(slot);
    double least = entries.weight(slot);
    for (std::size_t i = 0; i < kSlots; ++i) {
        if (working_[i] && slots_[i].high_priority == slots_[slot].high_priority)
            least = std::min(least, entries.weight(i));
    }
    return least > 0 ? entries.weight(slot) / least : 1;
}

Nanos Competitors::turn_length(std::size_t slot) const {
    const Nanos length = std::llround(turn_slices(slot) * static_cast<double>(tuning_.slice));
    return slots_[slot].gang.ganged() ? std::max(length, tuning_.gang_turn) : length;
}

Nanos Competitors::handicap(std::size_t slot) const {
    const Slot& s = slots_[slot];
    return s.high_priority ? 0 : s.gang.handicap(tuning_.gang_slack);
}

double Competitors::place(std::size_t slot, Nanos ahead) const {
    const VirtualTime& entries = times(slot);
    return entries.at(slot) + static_cast<double>(ahead + handicap(slot)) / entries.divisor(slot);
}

Nanos Competitors::gang_debt(std::size_t slot) const {
    return slots_[slot].gang.ganged() ? 3 * tuning_.gang_slack : 0;
}

Nanos Competitors::most_debt(std::size_t slot) const {
    // Overuse is the time beyond the turn; it is repaid up to one period (cGPU's contract). A gang may
    // overuse a turn on purpose.
    const Nanos usual = period() + turn_length(slot) + gang_debt(slot);
    // A longer kernel is repaid in full, and so is what was let through outside a turn. The time of a gang's
    // kernels may consist of waiting for others.
    return slots_[slot].gang.ganged() ? usual : std::max(usual, slots_[slot].took);
}

bool Competitors::in_debt(std::size_t slot, Nanos running) const {
    const auto most = static_cast<double>(period() + gang_debt(slot) - running);
    return times(slot).debt(slot) >= most;
}

std::optional<std::size_t> Competitors::first_waiting(bool high_priority, std::size_t last_holder) const {
    std::optional<std::size_t> first;
    for (std::size_t k = 1; k <= kSlots; ++k) {
        const std::size_t i = (last_holder + k) % kSlots;
        if (slots_[i].high_priority != high_priority || !wants(i)) continue;
        if (!first || place(i, 0) < place(*first, 0)) first = i;
    }
    return first;
}

Nanos Competitors::idle_slices_until(std::size_t slot) const {
    return ordinary_.time_until_next(slot, handicap(slot), idle_entries());
}

void Competitors::charge(std::size_t slot, Nanos used) {
    if (used == 0) return;
    slots_[slot].achieved.used += used;
    times(slot).flow(used);
    charge_without_use(slot, used);
}

void Competitors::charge_without_use(std::size_t slot, Nanos cost) {
    times(slot).charge(slot, cost, most_debt(slot));
    if (slots_[slot].high_priority) bucket_.charge(cost);
}

void Competitors::forgive(std::size_t slot, Nanos since) {
    times(slot).advance_clock(slot);
    if (!rules_.work_conserving) return;
    for (std::size_t i = 0; i < kSlots; ++i) {
        if (i != slot && slots_[i].present && slots_[i].competed_at < since) times(i).catch_up(i);
    }
}

void Competitors::turn_begins(std::size_t slot) {
    std::size_t first = slot;
    for (std::size_t i = 0; i < kSlots; ++i) {
        const bool competes = slots_[i].high_priority == slots_[slot].high_priority && wants(i);
        if (competes && times(i).at(i) < times(i).at(first)) first = i;
    }
    times(slot).advance_clock(first);
}

void Competitors::begin_anew() {
    for (std::size_t i = 0; i < kSlots; ++i) {
        if (slots_[i].present) times(i).enter(i);
        slots_[i].took = 0;
        slots_[i].beside = slots_[i].level().in_flight_estimate > 0;
    }
    ordinary_.enter(VirtualTime::kSpare);
    ordinary_.begin_even();
    priority_.begin_even();
    refresh_weights();
}

std::optional<double> Competitors::target_share(std::size_t slot) const {
    if (!rules_.enforced) return std::nullopt;
    const Slot& own = slots_[slot];
    double total = 0;
    bool priority_busy = false;
    Working busy;
    for (std::size_t i = 0; i < kSlots; ++i) {
        const Slot& s = slots_[i];
        busy[i] = s.high_priority == own.high_priority && s.was_busy && weight_of(s) > 0;
        priority_busy = priority_busy || (s.high_priority && s.was_busy && weight_of(s) > 0);
        const bool counts = s.high_priority || rules_.work_conserving ? s.was_busy : true;
        if (s.high_priority == own.high_priority && counts) total += weight_of(s);
    }
    double weight = weight_of(own);
    if (weight == 0 || total == 0) return 0.0;
    if (rules_.shares == Shares::as_requested) {
        weight = proportions(requests(own.high_priority), busy, division_.max_inst)[slot];
        total = division_.max_inst;
    }
    const double ratio = division_.prio_ratio / 100.0;
    if (own.high_priority) return own.was_busy ? ratio * weight / total : 0.0;
    if (rules_.work_conserving && !own.was_busy) return 0.0;
    const double whole = rules_.spare_burns ? std::max<double>(division_.max_inst, total) : total;
    return (priority_busy ? 1 - ratio : 1.0) * weight / whole;
}

}  // namespace cgpu::schedule
