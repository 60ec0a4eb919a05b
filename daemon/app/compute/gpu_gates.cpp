#include "daemon/app/compute/gpu_gates.hpp"

#include <algorithm>
#include <utility>

#include "daemon/app/compute/doorbell_wait.hpp"

namespace cgpu::app {
namespace {

using schedule::kMilli;
using schedule::kSecond;

/// The achieved share is measured over a window of about this length …
constexpr Nanos kWindow = 2 * kSecond;
/// … with samples at this interval.
constexpr Nanos kSampleEvery = 100 * kMilli;
/// Usage that is younger than this isn't renewed, because mostly that of all instances is read at once.
constexpr Nanos kCurrent = 2 * kMilli;
/// Poll interval for a process that does not wake up when its gate opens: it sends no event when it resumes.
constexpr Nanos kUnresponsivePollInterval = 20 * kMilli;
/// While there is a trace, the reports are read at least this often: measured work is placed by when it was
/// read.
constexpr Nanos kTraceEvery = 5 * kMilli;
/// After a restart of the daemon, the processes connect again within this time.
constexpr Nanos kBackWithin = 10 * kSecond;
/// Records between two takes. An instance with short kernels causes some thousand steps a second.
constexpr std::size_t kMostTraceRecords = 16384;

schedule::Settings settings_of(const model::Gpu& gpu, model::Policy in_force, Nanos slice) {
    schedule::Settings settings;
    settings.policy = in_force;
    settings.max_inst = static_cast<int>(gpu.settings.max_inst);
    settings.prio_ratio = static_cast<int>(gpu.settings.prio_ratio);
    settings.tuning.shares.slice = slice;
    return settings;
}

schedule::Ask ask_of(const model::Quota& quota) {
    return quota.percent ? schedule::Ask::percentage : schedule::Ask::weight;
}

/// What computes nothing is held in the way of an instance without a weight; only its quota knows its own.
std::uint32_t weight_in_turns(const model::Instance& instance, const model::Quota& quota) {
    return model::computes_nothing(instance, quota) ? 0 : quota.weight;
}

}  // namespace

GpuGates::GpuGates(const model::Gpu& gpu, model::Policy in_force, Nanos slice, Nanos hold)
    : slicer_(settings_of(gpu, in_force, slice)), hold_(hold) {}

GpuGates::Seat* GpuGates::seat_of(const model::InstanceId& id) {
    const auto slot = slot_of(id);
    return slot ? &*seats_[*slot] : nullptr;
}

void GpuGates::join(const model::Instance& instance, const model::Quota& quota) {
    // max_inst is 25 at most, so there is a slot for every instance that was admitted.
    const auto free = std::find_if(seats_.begin(), seats_.end(), [](const auto& seat) { return !seat; });
    if (free == seats_.end()) return;
    const auto slot = static_cast<std::size_t>(free - seats_.begin());
    slicer_.join(slot, static_cast<int>(weight_in_turns(instance, quota)), quota.high_priority,
                 ask_of(quota));
    sum_due_at_ = 0;  // from the next step on, however soon the instance ends
    *free = Seat{.id = instance.id,
                 .weight = weight_in_turns(instance, quota),
                 .ask = ask_of(quota),
                 .high_priority = quota.high_priority,
                 .name = instance.name};
    if (trace_)
        trace_->watch.joined(slot, monotonic_now(), instance.id.str(), instance.name,
                             static_cast<int>(weight_in_turns(instance, quota)), quota.high_priority);
}

bool GpuGates::update(const model::Occupancy& now, const model::Gpu& gpu) {
    bool changes = update_settings(now, gpu);
    bool others = false;
    const auto& there = now.on(gpu.uuid);
    std::vector<bool> seated(there.size());
    for (std::size_t slot = 0; slot < schedule::kSlots; ++slot) {
        if (!seats_[slot]) continue;
        const auto id_of = [](const model::Occupant& each) -> const auto& { return each.instance->id; };
        const auto its = std::ranges::lower_bound(there, seats_[slot]->id, {}, id_of);
        if (its != there.end() && id_of(*its) == seats_[slot]->id) {
            seated[static_cast<std::size_t>(its - there.begin())] = true;
            if (update_seat(slot, *its->instance, *its->quota)) changes = true;
            continue;
        }
        slicer_.leave(slot);
        seats_[slot].reset();
        if (trace_) trace_->watch.left(slot, monotonic_now());
        others = true;
    }
    for (std::size_t each = 0; each < there.size(); ++each) {
        if (seated[each]) continue;
        join(*there[each].instance, *there[each].quota);
        others = true;
    }
    // Most changes of the node concern other GPUs.
    if (changes || others) due_at_ = 0;
    return others;
}

bool GpuGates::update_seat(std::size_t slot, const model::Instance& instance, const model::Quota& quota) {
    auto& seat = *seats_[slot];
    const auto weight = weight_in_turns(instance, quota);
    const bool asks_else = seat.weight != weight || seat.ask != ask_of(quota);
    const bool changes = asks_else || seat.high_priority != quota.high_priority;
    if (asks_else) slicer_.set_weight(slot, static_cast<int>(weight), ask_of(quota));
    if (seat.high_priority != quota.high_priority) slicer_.set_high_priority(slot, quota.high_priority);
    seat.name = instance.name;
    seat.weight = weight;
    seat.ask = ask_of(quota);
    seat.high_priority = quota.high_priority;
    return changes;
}

bool GpuGates::update_settings(const model::Occupancy& now, const model::Gpu& gpu) {
    const auto before = slicer_.division();
    slicer_.set_policy(now.policy_in_force(gpu));
    slicer_.set_max_inst(static_cast<int>(gpu.settings.max_inst));
    slicer_.set_prio_ratio(static_cast<int>(gpu.settings.prio_ratio));
    const auto& after = slicer_.division();
    return before.policy != after.policy || before.max_inst != after.max_inst ||
           before.prio_ratio != after.prio_ratio;
}

void GpuGates::add(const model::InstanceId& id, std::uint32_t index, std::shared_ptr<ProcessPages> pages) {
    auto* seat = seat_of(id);
    if (!seat) return;
    due_at_ = 0;
    if (!seat->processes) seat->processes.emplace(index);
    seat->processes->add(std::move(pages));
}

void GpuGates::remove(const model::InstanceId& id, const model::Process& process, Nanos now) {
    auto* seat = seat_of(id);
    if (!seat || !seat->processes) return;
    due_at_ = 0;
    seat->processes->remove(process, now);
}

bool GpuGates::doubts(Seat& seat, Nanos now) {
    const auto process = seat.processes->take_doubtful_process();
    if (process && now >= seat.tell_doubt_at) {
        seat.tell_doubt_at = now + kSecond;
        doubted_.push_back({seat.id, *process});
    }
    return process.has_value();
}

void GpuGates::sample(Seat& seat, Nanos now) {
    if (now < seat.sample_at) return;
    seat.sample_at = now + kSampleEvery;
    seat.samples.push_back({now, seat.processes->totals().used});
    while (seat.samples.size() > 2 && seat.samples[1].at <= now - kWindow) seat.samples.pop_front();
}

/// What is due changes only by steps. So what the last step has left is right for the time since then,
/// however long that is; between two sums that are kSampleEvery apart it is taken for the whole time. An
/// instance that is alone on the GPU rings for none of its work, so the last step may have seen it idle: then
/// what it used was due to it, though no more than the time: what a report has at once may be the work of
/// longer, or of streams that overlap.
void GpuGates::sum_due(Seat& seat, std::size_t slot, Nanos now) {
    const Nanos used = seat.processes ? seat.processes->totals().used : 0;
    if (seat.due_until != 0 && now > seat.due_until) {
        const auto target = slicer_.target_share(slot);
        auto due = target.value_or(0) * static_cast<double>(now - seat.due_until);
        const bool alone =
            std::ranges::count_if(seats_, [](const auto& each) { return each.has_value(); }) == 1;
        // What an instance without a turn used there was launched before: nothing is due to it.
        if (target && alone && seat.weight > 0)
            due = std::max(due, static_cast<double>(used - seat.due_used));
        due = std::min(due, static_cast<double>(now - seat.due_until));
        seat.due += due;
    }
    seat.due_until = now;
    seat.due_used = used;
}

std::optional<std::size_t> GpuGates::slot_of(const model::InstanceId& id) const {
    for (std::size_t slot = 0; slot < schedule::kSlots; ++slot)
        if (seats_[slot] && seats_[slot]->id == id) return slot;
    return std::nullopt;
}

bool GpuGates::settles(Nanos now, schedule::Readings& readings) {
    if (began_ == 0) began_ = now;
    int working = 0;
    bool settles = false;
    for (std::size_t slot = 0; slot < schedule::kSlots; ++slot) {
        const auto& seat = seats_[slot];
        if (!seat || !seat->processes || seat->processes->empty()) continue;
        ++working;
        readings[slot].unsettled = seat->processes->settles(now, began_ + kBackWithin);
        settles = settles || readings[slot].unsettled;
    }
    return settles && working > 1;
}

void GpuGates::step(Nanos now, const schedule::GangStates& gangs) {
    stepped_at_ = now;
    if (now >= sum_due_at_) {
        sum_due_at_ = now + kSampleEvery;
        for (std::size_t slot = 0; slot < schedule::kSlots; ++slot)
            if (seats_[slot]) sum_due(*seats_[slot], slot, now);
    }
    // Such a step is the trace's as a whole.
    const Nanos asked_by_trace = trace_ && now < due_at_ ? monotonic_now() : 0;
    schedule::Readings readings{};
    bool someone_waits = false;
    bool any_unresponsive = false;
    Nanos look_within = schedule::kForever;
    for (std::size_t slot = 0; slot < schedule::kSlots; ++slot) {
        auto& seat = seats_[slot];
        if (!seat || !seat->processes) continue;
        readings[slot] = seat->processes->read(now);
        readings[slot].doubtful = doubts(*seat, now);
        someone_waits |= readings[slot].wants;
        any_unresponsive |= seat->processes->has_unresponsive_process();
        look_within = std::min(look_within, seat->processes->look_within());
    }
    const bool own = !settles(now, readings);
    for (auto& seat : seats_)
        if (seat && seat->processes) seat->processes->count(own, now);
    const auto decision = slicer_.step(now, readings, gangs);
    bool wakes_are_left = false;
    for (std::size_t slot = 0; slot < schedule::kSlots; ++slot) {
        auto& seat = seats_[slot];
        if (!seat) continue;
        const Nanos used = slicer_.achieved(slot).used;
        const Nanos charged = used - std::exchange(seat->charged, used);
        if (!seat->processes) continue;
        seat->processes->charged(charged);
        sample(*seat, now);
        seat->processes->publish(decision.gates[slot], now, now + hold_);
        wakes_are_left |= seat->processes->wakes_are_left();
    }
    due_at_ = decision.wake_at;
    // Waiting threads treat a gate that is not renewed in time as the sign of a dead daemon, so closed gates
    // are renewed well before they expire.
    if (someone_waits) due_at_ = std::min(due_at_, now + hold_ / 3);
    if (any_unresponsive) due_at_ = std::min(due_at_, now + kUnresponsivePollInterval);
    // With the other GPUs that look so often: one thread does it for all, and is woken once.
    if (look_within != schedule::kForever) due_at_ = std::min(due_at_, (now / look_within + 1) * look_within);
    // At once, but after the other GPUs and after the event-loop thread, which may want the lock.
    if (wakes_are_left) due_at_ = now;
    if (!trace_) return;
    const Nanos began = asked_by_trace != 0 ? asked_by_trace : monotonic_now();
    trace_step(now, readings, decision.gates);
    trace_->cost += monotonic_now() - began;
}

void GpuGates::trace_step(Nanos now, const schedule::Readings& readings, const schedule::GateOrders& gates) {
    trace::GpuWatch::SeenSlots seen;
    for (std::size_t slot = 0; slot < schedule::kSlots; ++slot)
        if (const auto& seat = seats_[slot]; seat && seat->processes)
            seen[slot] =
                trace::GpuWatch::Seen{readings[slot], seat->processes->totals().launches, gates[slot]};
    trace_->watch.step(now, seen, slicer_.turn());
    trace_->due_at = now + kTraceEvery;
}

bool GpuGates::begin_trace(trace::Record start) {
    if (trace_) return false;
    const Nanos now = start.begin;
    trace_ = std::make_unique<Trace>(Trace{trace::GpuWatch(now, kMostTraceRecords)});
    trace_->watch.note(std::move(start), std::nullopt);
    for (std::size_t slot = 0; slot < schedule::kSlots; ++slot)
        if (const auto& seat = seats_[slot])
            trace_->watch.joined(slot, now, seat->id.str(), seat->name, static_cast<int>(seat->weight),
                                 seat->high_priority);
    return true;
}

void GpuGates::note(trace::Record record, const std::optional<model::InstanceId>& instance) {
    if (trace_) trace_->watch.note(std::move(record), instance ? slot_of(*instance) : std::nullopt);
}

void GpuGates::take_trace(std::vector<trace::Record>& empty) {
    if (trace_) trace_->watch.buffer().take(empty);
}

void GpuGates::end_trace(Nanos now, Nanos cost_of_others, std::vector<trace::Record>& empty) {
    if (!trace_) return;
    trace_->watch.finish(now, trace_->cost, cost_of_others);
    trace_->watch.buffer().take(empty);
    trace_.reset();
}

ComputeReports GpuGates::reports() const {
    ComputeReports all;
    for (std::size_t slot = 0; slot < schedule::kSlots; ++slot) {
        const auto& seat = seats_[slot];
        if (!seat || !slicer_.target_share(slot)) continue;
        auto& its = all[seat->id];
        if (seat->processes) its = seat->processes->reports();
    }
    return all;
}

std::vector<model::Process> GpuGates::members(const model::InstanceId& id) const {
    const auto slot = slot_of(id);
    if (!slot || !seats_[*slot]->processes) return {};
    return seats_[*slot]->processes->all();
}

bool GpuGates::is_current(Nanos now) const {
    return now - stepped_at_ < kCurrent || std::ranges::none_of(seats_, [](const auto& seat) {
               return seat && seat->processes && !seat->processes->empty();
           });
}

void GpuGates::fill_usage(const model::InstanceId& id, Nanos now, InstanceUsage& usage) {
    const auto slot = slot_of(id);
    if (!slot) return;
    auto& seat = *seats_[*slot];
    usage.target_share = slicer_.target_share(*slot);
    if (usage.target_share) usage.achieved_share = 0;
    usage.preemptions = static_cast<std::uint64_t>(slicer_.achieved(*slot).preemptions);
    usage.granted = static_cast<std::uint64_t>(slicer_.achieved(*slot).granted);
    sum_due(seat, *slot, now);
    usage.due = static_cast<std::uint64_t>(seat.due);
    if (!seat.processes) return;
    const auto totals = seat.processes->totals();
    usage.gpu_time = static_cast<std::uint64_t>(totals.used);
    usage.waited = static_cast<std::uint64_t>(totals.waited);
    usage.launches = totals.launches;
    usage.launch_waits = seat.processes->launch_waits();
    usage.at_work = seat.processes->is_at_work();
    const auto pids = seat.processes->pids();
    usage.processes.assign(pids.begin(), pids.end());
    usage.longest_kernel = static_cast<std::uint64_t>(totals.longest_kernel);
    if (!usage.target_share) return;
    sample(seat, now);
    const auto& from = seat.samples.front();
    const auto span = now - from.at;
    if (span >= kSampleEvery)
        usage.achieved_share =
            std::clamp(static_cast<double>(totals.used - from.used) / static_cast<double>(span), 0.0, 1.0);
}

}  // namespace cgpu::app
