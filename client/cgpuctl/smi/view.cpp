#include "client/cgpuctl/smi/view.hpp"

#include <algorithm>

namespace cgpu::cgpuctl::smi {
namespace {

const client::Usage* usage_in(const View& view, const client::Instance& instance, const std::string& uuid) {
    for (const client::Instance& each : view.snapshot.instances) {
        if (each.id != instance.id) continue;
        const client::OnGpu* place = each.on(uuid);
        return place == nullptr ? nullptr : &place->usage;
    }
    return nullptr;
}

/// Between readings that say anything of the time between them.
constexpr std::chrono::milliseconds kLeastInterval(50);

/// By how much one of the times has grown since the reading before, as a part of the interval.
std::optional<double> growth(std::uint64_t client::Usage::*time, const client::Instance& instance,
                             const client::OnGpu& place, const View* before, const View& now) {
    const auto* past = before == nullptr ? nullptr : usage_in(*before, instance, place.quota.gpu);
    // The times restart with cgpud. Two readings can have the same figures (see Snapshot::usage_age).
    if (past == nullptr || !past->target_share || !now.interval || *now.interval < kLeastInterval ||
        past->*time > place.usage.*time)
        return std::nullopt;
    const auto grown = static_cast<double>(place.usage.*time - past->*time);
    return grown / static_cast<double>(now.interval->count());
}

}  // namespace

std::optional<double> utilization(const client::Instance& instance, const client::OnGpu& place,
                                  const View* before, const View& now) {
    if (!place.usage.target_share) return std::nullopt;
    const auto used = growth(&client::Usage::gpu_time, instance, place, before, now);
    return used ? std::min(*used, 1.0) : place.usage.achieved_share;
}

std::optional<double> utilization(const client::Gpu& gpu, const View* before, const View& now) {
    if (!gpu.is_measured()) return std::nullopt;
    double sum = 0;
    for (const client::Instance& instance : now.snapshot.instances)
        if (const client::OnGpu* place = instance.on(gpu.uuid))
            sum += utilization(instance, *place, before, now).value_or(0);
    return std::min(sum, 1.0);
}

std::optional<double> waiting(const client::Instance& instance, const client::OnGpu& place,
                              const View* before, const View& now) {
    if (!place.usage.target_share) return std::nullopt;
    const auto waited = growth(&client::Usage::waited, instance, place, before, now);
    return waited ? std::optional(std::min(*waited, 1.0)) : std::nullopt;
}

std::uint32_t instances_on(const client::Snapshot& snapshot, const client::Gpu& gpu) {
    return static_cast<std::uint32_t>(std::ranges::count_if(
        snapshot.instances,
        [&](const client::Instance& instance) { return instance.on(gpu.uuid) != nullptr; }));
}

}  // namespace cgpu::cgpuctl::smi
