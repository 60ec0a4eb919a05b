#include "daemon/app/compute/slicer_thread.hpp"

#include <sys/prctl.h>

#include <algorithm>
#include <utility>

#include "daemon/app/compute/doorbell_wait.hpp"

namespace cgpu::app {

SlicerThread::SlicerThread(Timing timing, Doubted doubted) : timing_(timing), doubted_(std::move(doubted)) {
    thread_ = std::thread([this] { run(); });
}

SlicerThread::~SlicerThread() {
    stop_ = true;
    poke();
    thread_.join();
}

void SlicerThread::poke() {
    poked_.fetch_add(1, std::memory_order_release);
    wake(poked_);
}

void SlicerThread::update(const model::Node& node) {
    {
        const std::lock_guard lock(mutex_);
        const auto changed = model::changed_gpus(seen_, node);
        const model::Occupancy now(node);
        bool others = false;
        for (const auto& gpu : node.gpus()) {
            if (!changed.contains(gpu.uuid)) continue;
            const auto [gates, added] =
                gpus_.try_emplace(gpu.uuid, gpu, now.policy_in_force(gpu), timing_.slice, timing_.hold);
            others = gates->second.update(now, gpu) || added || others;
        }
        others = update_instances(node) || others;
        if (others) gangs_.update(node, gpus_);
        changed_ = changed_ || others;
        seen_ = node;
    }
    poke();
}

/// Both are by id, so one pass sees who has come and who has gone.
bool SlicerThread::update_instances(const model::Node& node) {
    bool changed = false;
    auto known = instances_.begin();
    const auto drop = [&] {
        changed = true;
        known = instances_.erase(known);
    };
    for (const auto& [id, instance] : node.instances()) {
        while (known != instances_.end() && known->first < id) drop();
        if (known == instances_.end() || id < known->first)
            known = instances_.emplace_hint(known, id, Instance{});
        const auto& quotas = instance.quotas;
        auto& gpus = known->second.gpus;
        if (!std::ranges::equal(gpus, quotas, {}, {}, &model::Quota::gpu)) {
            gpus.clear();
            for (const auto& quota : quotas) gpus.push_back(quota.gpu);
            changed = true;
        }
        ++known;
    }
    while (known != instances_.end()) drop();
    return changed;
}

void SlicerThread::doorbell_added(const model::InstanceId& id,
                                  std::shared_ptr<const InstanceDoorbell> doorbell) {
    {
        const std::lock_guard lock(mutex_);
        auto& instance = instances_[id];
        instance.doorbell = std::move(doorbell);
        // The node doesn't have it yet: it has no place where its ring would be heard.
        if (instance.gpus.empty()) return;
        changed_ = true;
    }
    poke();
}

void SlicerThread::process_added(const model::InstanceId& id, std::shared_ptr<ProcessPages> pages) {
    {
        const std::lock_guard lock(mutex_);
        const auto& gpus = instances_[id].gpus;
        for (std::uint32_t index = 0; index < gpus.size(); ++index)
            if (const auto gates = gpus_.find(gpus[index]); gates != gpus_.end())
                gates->second.add(id, index, pages);
    }
    poke();
}

void SlicerThread::process_removed(const model::InstanceId& id, const model::Process& process) {
    {
        const std::lock_guard lock(mutex_);
        for (auto& [uuid, gates] : gpus_) gates.remove(id, process, monotonic_now());
        // What the process used last is charged before its instance may be told to have ended with it.
        gangs_.step(monotonic_now());
    }
    poke();
}

void SlicerThread::fill_usage(const model::InstanceId& id, const model::Uuid& gpu, InstanceUsage& usage) {
    const std::lock_guard lock(mutex_);
    auto* gates = gates_of(gpu);
    if (gates == nullptr) return;
    const auto now = monotonic_now();
    if (!gates->is_current(now)) {
        const auto due = gates->due_at();
        gates->rung();
        gangs_.step(now);
        if (gates->due_at() < due) poke();
    }
    gates->fill_usage(id, now, usage);
}

std::vector<model::Process> SlicerThread::members(const model::InstanceId& id, const model::Uuid& gpu) {
    const std::lock_guard lock(mutex_);
    const auto gates = gpus_.find(gpu);
    return gates == gpus_.end() ? std::vector<model::Process>() : gates->second.members(id);
}

std::map<model::Uuid, ComputeReports> SlicerThread::reports() {
    const std::lock_guard lock(mutex_);
    std::map<model::Uuid, ComputeReports> all;
    for (const auto& [uuid, gates] : gpus_)
        if (auto its = gates.reports(); !its.empty()) all.emplace(uuid, std::move(its));
    return all;
}

GpuGates* SlicerThread::gates_of(const model::Uuid& gpu) {
    const auto found = gpus_.find(gpu);
    return found == gpus_.end() ? nullptr : &found->second;
}

bool SlicerThread::begin_trace(const model::Uuid& gpu, trace::Record start) {
    {
        const std::lock_guard lock(mutex_);
        auto* gates = gates_of(gpu);
        if (gates == nullptr || !gates->begin_trace(std::move(start))) return false;
    }
    poke();
    return true;
}

void SlicerThread::note(const model::Uuid& gpu, trace::Record record,
                        const std::optional<model::InstanceId>& instance) {
    const std::lock_guard lock(mutex_);
    if (auto* gates = gates_of(gpu)) gates->note(std::move(record), instance);
}

void SlicerThread::take_trace(const model::Uuid& gpu, std::vector<trace::Record>& empty) {
    const std::lock_guard lock(mutex_);
    if (auto* gates = gates_of(gpu)) gates->take_trace(empty);
}

void SlicerThread::end_trace(const model::Uuid& gpu, Nanos cost, std::vector<trace::Record>& empty) {
    const std::lock_guard lock(mutex_);
    if (auto* gates = gates_of(gpu)) gates->end_trace(monotonic_now(), cost, empty);
}

std::uint64_t SlicerThread::wakes() {
    const std::lock_guard lock(mutex_);
    return steps_ + doorbells_.sleepers().wakes();
}

void SlicerThread::gather_doorbells() {
    std::vector<DoorbellFilter::Known> all;
    for (const auto& [id, instance] : instances_) {
        if (!instance.doorbell) continue;
        std::vector<DoorbellFilter::Place> places;
        for (const auto& gpu : instance.gpus)
            if (const auto gates = gpus_.find(gpu); gates != gpus_.end())
                if (const auto slot = gates->second.slot_of(id)) places.push_back({&gates->second, *slot});
        all.push_back({instance.doorbell, std::move(places)});
    }
    doorbells_.set_doorbells(std::move(all));
    changed_ = false;
}

void SlicerThread::tell_doubted() {
    for (auto& [uuid, gates] : gpus_)
        for (const auto& each : gates.take_doubted())
            if (doubted_) doubted_(each.id, uuid, each.process);
}

void SlicerThread::run() {
    prctl(PR_SET_NAME, "slicer");
    prctl(PR_SET_TIMERSLACK, 1UL);
    DoorbellWait wait;
    std::optional<std::size_t> woken_by;
    while (!stop_) {
        auto wake_at = schedule::kForever;
        wait.clear();
        // Add this word before the reports are read: a ring in between ends the wait at once.
        wait.add(poked_);
        {
            const std::lock_guard lock(mutex_);
            if (changed_) gather_doorbells();
            const auto now = monotonic_now();
            doorbells_.take_rings(now, woken_by);
            wake_at = gangs_.step(now);
            tell_doubted();
            wake_at = std::min(wake_at, doorbells_.listen(wait, now));
            ++steps_;
        }
        woken_by = wait.until(wake_at);
    }
}

}  // namespace cgpu::app
