#include "daemon/bus/objects/description.hpp"

#include <algorithm>
#include <utility>

#include "core/ends/course.hpp"
#include "daemon/bus/objects/gpu_view.hpp"
#include "daemon/bus/objects/instance_view.hpp"

namespace cgpu::bus {
namespace {

std::uint32_t index_of(const model::Node& node, const model::Uuid& gpu) {
    const model::Gpu* found = node.find_gpu(gpu);
    return found == nullptr ? 0 : found->index;
}

view::Gpu of_gpu(view::Gpu gpu, const app::GpuUsage& usage) {
    gpu.memory_used = usage.memory_used;
    gpu.memory_leased = usage.memory_leased;
    gpu.xid_errors = usage.xid_errors;
    gpu.last_xid = usage.last_xid;
    if (usage.at_look) {
        gpu.memory_in_driver = usage.at_look->in_driver;
        gpu.memory_charged_then = usage.at_look->charged;
    }
    if (usage.strangers) {
        gpu.strangers = usage.strangers->share;
        gpu.strangers_process = static_cast<std::uint64_t>(usage.strangers->most);
    }
    return gpu;
}

view::Quota of_quota(const model::Node& node, const model::Instance& instance, const model::Quota& quota) {
    return {quota.gpu.to_string(),
            index_of(node, quota.gpu),
            quota.memory_limit.count(),
            quota.weight,
            quota.high_priority,
            quota.percent,
            model::computes_nothing(instance, quota)};
}

using app::UsageOnGpus;

view::Instance of_instance(const model::Node& node, const model::Instance& instance, InstanceView shown,
                           const UsageOnGpus& usage) {
    view::Instance out;
    out.id = std::move(shown.id);
    out.name = std::move(shown.name);
    out.image = std::move(shown.image);
    out.state = std::move(shown.state);
    out.created = shown.created;
    out.pid = shown.pid;
    out.module_version = std::move(shown.module_version);
    out.owner = instance.owner.user;
    out.declared_owner = instance.owner.declared;
    if (instance.idle) {
        out.idle_limit = instance.idle->seconds;
        out.idle_over = instance.idle->over();
    }
    for (const model::Quota& quota : instance.quotas) {
        view::OnGpu& place = out.gpus.emplace_back();
        place.quota = of_quota(node, instance, quota);
        if (const auto its = usage.find(quota.gpu); its != usage.end()) place.usage = its->second;
    }
    for (const auto& [gpu, its] : usage)
        if (its.foreign) out.foreign_gpus.push_back({gpu.to_string(), index_of(node, gpu), its});
    return out;
}

view::UnmanagedContainer of_unmanaged(const model::InstanceId& id, const app::UnmanagedContainer& container) {
    view::UnmanagedContainer out;
    out.id = id.str();
    out.name = container.name;
    out.created = container.created;
    out.pid = container.attached ? static_cast<std::uint32_t>(container.attached->pid) : 0;
    out.booked = container.whole;
    if (container.owner != 0) out.owner = container.owner;
    for (const auto& gpu : container.gpus) out.gpus.push_back(gpu.to_string());
    for (const auto& [gpu, bytes] : container.held) out.memory.emplace(gpu.to_string(), bytes);
    return out;
}

view::Kept of_kept(const model::KeptKey& key, const model::KeptFigures& figures) {
    view::Kept kept{key.owner, key.name, key.device, {}, figures.weight, figures.high_priority};
    if (figures.memory_limit) kept.memory_limit = figures.memory_limit->count();
    return kept;
}

view::Job of_job(const upgrade::Flow::Status& status) {
    view::Job job;
    job.id = status.id;
    job.kind = to_string(status.kind);
    job.from = to_string(status.from);
    job.target = to_string(status.to);
    job.state = to_string(status.step);
    job.done = static_cast<std::uint32_t>(status.done);
    job.all = static_cast<std::uint32_t>(status.all);
    job.message = status.message;
    if (status.result) job.result = to_string(*status.result);
    return job;
}

view::Queued of_queued(const app::Service& service, const app::AdmissionQueue::Place& place, app::Nanos now) {
    const auto& request = *place.request;
    view::Queued out;
    out.id = request.instance.id.str();
    out.name = request.instance.name;
    out.image = request.instance.image;
    out.owner = request.instance.owner.user;
    out.declared_owner = request.instance.owner.declared;
    out.position = static_cast<std::uint32_t>(place.position);
    out.pid = static_cast<std::uint32_t>(request.process.pid);
    out.asked = request.instance.created;
    out.asks_for = service.asked_for(request);
    out.waits_for = place.waits_for;
    out.high_priority = request.waiting.priority > 0;
    const auto since = [](app::Nanos from, app::Nanos until) {
        return static_cast<std::uint64_t>(std::max<app::Nanos>(until - from, 0));
    };
    out.waited = since(request.waiting.asked_at, now);
    if (request.waiting.deadline) out.waits_on = since(now, *request.waiting.deadline);
    if (place.starts_within) out.starts_within = static_cast<std::uint64_t>(*place.starts_within);
    return out;
}

/// A container that books its GPUs is an instance that nothing is enforced for.
void mark_booked(view::Instance& instance, const app::UnmanagedContainer& container) {
    instance.managed = false;
    for (view::OnGpu& place : instance.gpus)
        for (const auto& [gpu, bytes] : container.held)
            if (gpu.to_string() == place.quota.gpu) place.usage.memory_used = bytes;
}

}  // namespace

view::Snapshot describe_node(app::Service& service, const app::Upgrader& upgrader,
                             const app::UnmanagedContainers& unmanaged, const Told& told,
                             const app::NodeUsage& usage, app::Nanos age) {
    const model::Node& node = service.node();
    view::Snapshot all;
    all.generation = node.generation();
    all.version = told.version;
    all.module_version = upgrader.installed_in_force();
    for (const auto& manifest : upgrader.installed()) all.modules_installed.push_back(manifest.version.str());
    all.mode = to_string(upgrader.mode_of_node());
    if (upgrader.mode()) all.mode_source = "switched";
    all.default_memory = service.default_memory().count();
    if (node.default_memory()) all.default_memory_source = "set";
    if (const auto status = upgrader.status(); status.id != 0) all.job = of_job(status);
    for (const auto& problem : told.configuration_problems)
        all.configuration_problems.push_back({problem.file, problem.line, problem.message, problem.since});
    all.newer_driver_functions = told.newer_driver_functions;
    all.event_counts = told.event_counts;
    all.usage_age = static_cast<std::uint64_t>(std::max<app::Nanos>(age, 0));
    const model::Occupancy now(node);
    for (const auto& gpu : node.gpus()) {
        const auto its = usage.gpus.find(gpu.uuid);
        all.gpus.push_back(of_gpu(view_of(now, gpu, upgrader.mode()),
                                  its == usage.gpus.end() ? app::GpuUsage{} : its->second));
    }
    for (const auto& [id, instance] : node.instances()) {
        static const UsageOnGpus kNone;
        const auto its = usage.instances.find(id);
        const UsageOnGpus& on_gpus = its == usage.instances.end() ? kNone : its->second;
        auto shown = of_instance(node, instance, view_of(node, instance, upgrader.versions(id)), on_gpus);
        shown.processes = service.processes_of(id, on_gpus);
        if (instance.time) {
            shown.time_limit = instance.time->seconds;
            shown.time_left = ends::left(*instance.time, service.now());
        }
        if (const auto found = told.without_driver.find(id); found != told.without_driver.end())
            shown.without_driver = found->second;
        if (const auto booked = unmanaged.all().find(id); booked != unmanaged.all().end())
            mark_booked(shown, booked->second);
        all.instances.push_back(std::move(shown));
    }
    for (const auto& [id, container] : unmanaged.all()) all.unmanaged.push_back(of_unmanaged(id, container));
    if (const auto* queue = service.queue()) {
        for (const auto& place : queue->all()) all.queue.push_back(of_queued(service, place, service.now()));
        const auto& totals = queue->totals();
        all.queue_totals = {totals.started, totals.left, static_cast<std::uint64_t>(totals.waited)};
    }
    for (const auto& [key, figures] : node.kept()) all.kept.push_back(of_kept(key, figures));
    return all;
}

}  // namespace cgpu::bus
