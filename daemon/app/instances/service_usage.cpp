#include <utility>

#include "daemon/app/instances/service.hpp"

/// The figures of usage.
namespace cgpu::app {

UsageOnGpus Service::usage(const model::InstanceId& id) const {
    UsageOnGpus all;
    const auto* instance = state_.node().find_instance(id);
    if (instance == nullptr) return all;
    for (const auto& quota : instance->quotas) {
        auto usage = outside_.usage.usage(id, quota.gpu);
        usage.memory_limit = quota.memory_limit.count();
        all.emplace(quota.gpu, std::move(usage));
    }
    for (const auto& gpu : outside_.usage.foreign_gpus(id)) {
        auto usage = outside_.usage.usage(id, gpu);
        usage.foreign = true;
        all.emplace(gpu, std::move(usage));
    }
    return all;
}

GpuUsage Service::usage(const model::Uuid& gpu) const {
    GpuUsage sum = without_instances(gpu);
    // Those of other GPUs, too: their processes may use this one outside the module.
    for (const auto& [id, instance] : state_.node().instances()) sum += outside_.usage.usage(id, gpu);
    return sum;
}

GpuUsage Service::without_instances(const model::Uuid& gpu) const {
    const XidCount xids = gpus_.xids_of(gpu);
    const auto look = looks_.find(gpu);
    return {.at_look = look == looks_.end() ? std::nullopt : std::optional(look->second),
            .xid_errors = xids.errors,
            .last_xid = xids.last,
            .strangers = outside_.usage.strangers(gpu)};
}

std::vector<view::Process> Service::processes_of(const model::InstanceId& id, const UsageOnGpus& usage) {
    std::vector<model::Process> all;
    for (const auto& [gpu, its] : usage) {
        const auto pids = its.pids();
        for (auto& process : outside_.usage.members(id, gpu))
            if (pids.contains(static_cast<std::uint32_t>(process.pid))) all.push_back(std::move(process));
    }
    return facts_.of(all);
}

NodeUsage Service::usage() const {
    NodeUsage all;
    for (const auto& gpu : state_.node().gpus()) all.gpus.emplace(gpu.uuid, without_instances(gpu.uuid));
    for (const auto& [id, instance] : state_.node().instances()) {
        const auto& its = all.instances.emplace(id, usage(id)).first->second;
        for (const auto& [gpu, usage] : its) all.gpus[gpu] += usage;
    }
    return all;
}

}  // namespace cgpu::app
