#include "client/cgpuctl/why/observed.hpp"

#include <algorithm>
#include <chrono>

#include "client/cgpuctl/output/format.hpp"

namespace cgpu::cgpuctl::why {
namespace {

const client::Instance* instance_in(const client::Snapshot& snapshot, const std::string& id) {
    const auto found = std::ranges::find(snapshot.instances, id, &client::Instance::id);
    return found == snapshot.instances.end() ? nullptr : &*found;
}

std::string name_of(const client::Instance& instance) { return shown_name(instance.name, instance.id); }

/// The counters restart with cgpud.
std::uint64_t growth(std::uint64_t before, std::uint64_t after) {
    return after >= before ? after - before : after;
}

std::optional<double> mean_due(const std::vector<smi::View>& readings, const std::string& id,
                               const std::string& uuid) {
    double sum = 0;
    int count = 0;
    for (const smi::View& reading : readings) {
        const client::Instance* instance = instance_in(reading.snapshot, id);
        const client::OnGpu* place = instance == nullptr ? nullptr : instance->on(uuid);
        if (place == nullptr || !place->usage.target_share) continue;
        sum += *place->usage.target_share;
        ++count;
    }
    return count == 0 ? std::nullopt : std::optional(sum / count);
}

/// The mean of the readings in which somebody knew.
void add_strangers(Observed& seen, const std::vector<smi::View>& readings) {
    double sum = 0;
    int count = 0;
    for (const smi::View& reading : readings) {
        const auto gpu = std::ranges::find(reading.snapshot.gpus, seen.gpu.uuid, &client::Gpu::uuid);
        if (gpu == reading.snapshot.gpus.end() || !gpu->strangers) continue;
        sum += *gpu->strangers;
        ++count;
        if (gpu->strangers_process != 0) seen.strangers_process = gpu->strangers_process;
    }
    if (count > 0) seen.strangers = sum / count;
}

void add_others(Observed& seen, const smi::View& before, const smi::View& after) {
    const std::string& uuid = seen.gpu.uuid;
    for (const client::Instance& other : after.snapshot.instances) {
        const client::OnGpu* place = other.on(uuid);
        if (place == nullptr) continue;
        const auto& outside = place->usage.processes_outside;
        seen.outside.insert(seen.outside.end(), outside.begin(), outside.end());
        const double unreported = place->usage.compute_unexplained.value_or(0);
        if (unreported > 0) seen.unreported.emplace_back(name_of(other), unreported);
        if (other.id == seen.id) {
            seen.unreported_of_own = unreported;
            continue;
        }
        if (!other.managed) {
            seen.unmanaged.push_back(name_of(other));
            continue;
        }
        seen.rivals.push_back({name_of(other), smi::utilization(other, *place, &before, after).value_or(0),
                               place->quota.high_priority, place->usage.longest_kernel, other.id,
                               smi::waiting(other, *place, &before, after).value_or(0), unreported});
    }
    std::ranges::stable_sort(seen.rivals, std::ranges::greater(), &Rival::used);
    for (const client::UnmanagedContainer& container : after.snapshot.unmanaged)
        if (container.gpus.empty() || std::ranges::find(container.gpus, uuid) != container.gpus.end())
            seen.unmanaged.push_back(shown_name(container.name, container.id));
}

}  // namespace

std::optional<Observed> observe(const std::vector<smi::View>& readings, const std::string& id,
                                const std::string& uuid) {
    const smi::View& before = readings.front();
    const smi::View& after = readings.back();
    const client::Instance* past = instance_in(before.snapshot, id);
    const client::Instance* now = instance_in(after.snapshot, id);
    const auto gpu = std::ranges::find(after.snapshot.gpus, uuid, &client::Gpu::uuid);
    if (past == nullptr || now == nullptr || gpu == after.snapshot.gpus.end()) return std::nullopt;
    const client::OnGpu* from = past->on(uuid);
    const client::OnGpu* to = now->on(uuid);
    if (from == nullptr || to == nullptr) return std::nullopt;
    Observed seen;
    seen.id = id;
    seen.name = now->name.empty() ? short_id(id) : now->name;
    seen.gpu = *gpu;
    seen.quota = to->quota;
    seen.without_driver = now->without_driver;
    seen.time_over = now->time_limit && now->time_left.value_or(0) == 0;
    seen.idle_over = now->idle_over;
    seen.connected = !to->usage.processes.empty();
    seen.seconds = std::chrono::duration<double>(after.interval.value_or(std::chrono::nanoseconds{})).count();
    seen.due = mean_due(readings, id, uuid);
    seen.got = smi::utilization(*now, *to, &before, after).value_or(0);
    seen.waited = smi::waiting(*now, *to, &before, after).value_or(0);
    seen.launches = growth(from->usage.launches, to->usage.launches);
    seen.preemptions = growth(from->usage.preemptions, to->usage.preemptions);
    seen.refused = to->usage.allocations_refused;
    seen.memory_used = to->usage.memory_used;
    add_others(seen, before, after);
    add_strangers(seen, readings);
    return seen;
}

}  // namespace cgpu::cgpuctl::why
