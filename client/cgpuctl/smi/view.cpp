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

}  // namespace

std::optional<double> utilization(const client::Instance& instance, const client::OnGpu& place,
                                  const View* before, const View& now) {
    if (!place.usage.target_share) return std::nullopt;
    const auto* past = before == nullptr ? nullptr : usage_in(*before, instance, place.quota.gpu);
    // The times restart with cgpud.
    if (past == nullptr || !past->target_share || !now.interval || now.interval->count() <= 0 ||
        past->gpu_time > place.usage.gpu_time)
        return place.usage.achieved_share;
    const auto used = static_cast<double>(place.usage.gpu_time - past->gpu_time);
    return std::min(used / static_cast<double>(now.interval->count()), 1.0);
}

std::optional<double> utilization(const client::Gpu& gpu, const View* before, const View& now) {
    if (!gpu.is_measured()) return std::nullopt;
    double sum = 0;
    for (const client::Instance& instance : now.snapshot.instances)
        if (const client::OnGpu* place = instance.on(gpu.uuid))
            sum += utilization(instance, *place, before, now).value_or(0);
    return std::min(sum, 1.0);
}

std::uint32_t instances_on(const client::Snapshot& snapshot, const client::Gpu& gpu) {
    return static_cast<std::uint32_t>(std::ranges::count_if(
        snapshot.instances,
        [&](const client::Instance& instance) { return instance.on(gpu.uuid) != nullptr; }));
}

}  // namespace cgpu::cgpuctl::smi
