#include "daemon/bus/objects/instance_view.hpp"

namespace cgpu::bus {

std::vector<BusQuota> quotas_of(const model::Node& node, const model::Instance& instance) {
    std::vector<BusQuota> quotas;
    for (const model::Quota& quota : instance.quotas) {
        const model::Gpu* gpu = node.find_gpu(quota.gpu);
        const std::uint32_t index = gpu == nullptr ? 0 : gpu->index;
        quotas.emplace_back(quota.gpu.to_string(), index, quota.memory_limit.count(), quota.weight,
                            quota.high_priority);
    }
    return quotas;
}

std::string versions_text(const std::set<upgrade::Version>& versions) {
    std::string text;
    for (const auto& version : versions) text += (text.empty() ? "" : " ") + version.str();
    return text;
}

InstanceView view_of(const app::QueuedRequest& queued) {
    InstanceView view;
    view.id = queued.instance.id.str();
    view.name = queued.instance.name;
    view.image = queued.instance.image;
    view.owner = queued.instance.owner;
    view.created = queued.instance.created;
    view.state = "queued";
    return view;
}

InstanceView view_of(const model::Node& node, const model::Instance& instance,
                     const std::map<std::int32_t, std::set<upgrade::Version>>& engines) {
    InstanceView view;
    view.id = instance.id.str();
    view.name = instance.name;
    view.image = instance.image;
    view.owner = instance.owner;
    view.created = instance.created;
    view.state = instance.attached ? "running" : instance.reservation ? "reserved" : "waiting";
    view.pid = instance.attached ? static_cast<std::uint32_t>(instance.attached->pid) : 0;
    view.quotas = quotas_of(node, instance);
    for (const model::Quota& quota : instance.quotas)
        if (quota.percent) view.percentages.emplace(quota.gpu.to_string(), *quota.percent);
    for (const model::Quota& quota : instance.quotas)
        if (model::computes_nothing(instance, quota)) view.paused.push_back(quota.gpu.to_string());
    view.time_limit = instance.time ? instance.time->seconds : 0;
    view.idle_limit = instance.idle ? instance.idle->seconds : 0;
    std::set<upgrade::Version> versions;
    for (const auto& [pid, of_process] : engines) versions.insert(of_process.begin(), of_process.end());
    view.module_version = versions_text(versions);
    return view;
}

std::vector<compat::PropertyName> changed_properties(const InstanceView& before, const InstanceView& after) {
    std::vector<compat::PropertyName> names;
    if (before.state != after.state) names.emplace_back("State");
    if (before.pid != after.pid) names.emplace_back("Pid");
    if (before.quotas != after.quotas) names.emplace_back("Quotas");
    if (before.percentages != after.percentages) names.emplace_back("Percentages");
    if (before.paused != after.paused) names.emplace_back("Paused");
    if (before.time_limit != after.time_limit) names.emplace_back("TimeLimit");
    if (before.module_version != after.module_version) names.emplace_back("ModuleVersion");
    return names;
}

}  // namespace cgpu::bus
