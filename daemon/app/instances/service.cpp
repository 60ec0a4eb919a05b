#include "daemon/app/instances/service.hpp"

#include <algorithm>
#include <utility>

#include "core/model/quote.hpp"
#include "daemon/app/ports/log.hpp"

namespace cgpu::app {
namespace {

using model::Refusal;

/// Of those whose weight on the GPU follows max_inst, because they asked for a percentage.
std::vector<model::InstanceId> say_whose_weight_followed(const model::Node& before, const model::Node& now,
                                                         const model::Uuid& gpu) {
    std::vector<model::InstanceId> whose;
    for (const auto& [instance, quota] : now.occupants_of(gpu)) {
        const auto* then = before.find_instance(instance->id);
        if (then == nullptr || *then == *instance) continue;
        log::info("{}: {}% of the compute are {} slices now", model::describe(*instance),
                  quota->percent.value_or(0), quota->weight);
        whose.push_back(instance->id);
    }
    return whose;
}

void say_whose_gpu_is_lost(const model::Node& node, const model::Gpu& gpu) {
    for (const auto* instance : instances_on(node, gpu.uuid))
        log::warn("{}: its GPU {} is not there now{}", model::describe(*instance), gpu.index,
                  gpu.obstacle.empty() ? "" : ": " + gpu.obstacle);
}

}  // namespace

Service::Service(model::Node node, Settings settings, const Outside& outside)
    : node_(std::move(node)), settings_(std::move(settings)), outside_(outside) {}

Result<bool> Service::change(const std::function<tl::expected<Change, Refusal>(model::Node&)>& transition,
                             Options options) {
    auto next = node_;
    const auto done = transition(next);
    if (!done) return tl::unexpected(done.error());
    if (*done == Change::unchanged || options.dry_run) return false;
    if (auto saved = outside_.store.save(next); !saved) return tl::unexpected(saved.error());
    node_ = std::move(next);
    outside_.compute.update(node_);
    return true;
}

Result<void> Service::set_policy(const model::Uuid& gpu, std::string_view policy, Options options) {
    const auto parsed = model::parse_policy(policy);
    if (!parsed)
        return model::refuse(Refusal::Reason::invalid, "policy " + model::quote(policy), parsed.error(),
                             "weighted, for example");
    const auto changed = change([&](model::Node& node) { return node.set_policy(gpu, *parsed); }, options);
    if (!changed) return tl::unexpected(changed.error());
    if (*changed) {
        const auto* now = node_.find_gpu(gpu);
        log::info("{}: policy {} is set", describe(*now), model::to_string(*parsed));
        if (node_.policy_in_force(*now) != *parsed)
            log::info("{}: it divides memory only, so policy {} stays in force", describe(*now),
                      model::to_string(node_.policy_in_force(*now)));
        outside_.publisher.gpu_changed(gpu);
    }
    return {};
}

Result<void> Service::set_max_inst(const model::Uuid& gpu, std::uint32_t max_inst, Options options) {
    const auto before = node_;
    const auto changed = change([&](model::Node& node) { return node.set_max_inst(gpu, max_inst); }, options);
    if (!changed) return tl::unexpected(changed.error());
    if (*changed) {
        log::info("{}: max_inst {} is set", describe(*node_.find_gpu(gpu)), max_inst);
        for (const auto& id : say_whose_weight_followed(before, node_, gpu))
            outside_.publisher.instance_changed(id);
        outside_.publisher.gpu_changed(gpu);
    }
    return {};
}

Result<void> Service::set_prio_ratio(const model::Uuid& gpu, std::uint32_t per_cent, Options options) {
    const auto changed =
        change([&](model::Node& node) { return node.set_prio_ratio(gpu, per_cent); }, options);
    if (!changed) return tl::unexpected(changed.error());
    if (*changed) {
        log::info("{}: prio_ratio {} is set", describe(*node_.find_gpu(gpu)), per_cent);
        outside_.publisher.gpu_changed(gpu);
    }
    return {};
}

std::map<model::Uuid, InstanceUsage> Service::usage(const model::InstanceId& id) const {
    std::map<model::Uuid, InstanceUsage> all;
    if (const auto* instance = node_.find_instance(id))
        for (const auto& quota : instance->quotas) {
            auto usage = outside_.usage.usage(id, quota.gpu);
            usage.memory_limit = quota.memory_limit.count();
            all.emplace(quota.gpu, std::move(usage));
        }
    return all;
}

GpuUsage Service::usage(const model::Uuid& gpu) const {
    GpuUsage sum;
    for (const auto* instance : instances_on(node_, gpu)) {
        const auto usage = outside_.usage.usage(instance->id, gpu);
        sum.memory_used += usage.memory_used;
        sum.memory_leased += usage.memory_leased;
    }
    if (const auto found = xids_.find(gpu); found != xids_.end()) {
        sum.xid_errors = found->second.errors;
        sum.last_xid = found->second.last;
    }
    return sum;
}

void Service::gpus_seen(const model::SeenGpus& seen) {
    std::vector<model::Sighting> sightings;
    sightings.reserve(seen.gpus.size());
    for (const auto& gpu : seen.gpus) sightings.push_back({gpu, settings_.settings_for(gpu)});
    const auto before = node_.gpus();
    gpus_changed(change([&](model::Node& node) { return node.sync_gpus(sightings, seen.lost); }, {}), before);
    for (const auto& xid : seen.xids) xid_reported(xid);
}

void Service::xid_reported(const model::XidError& xid) {
    auto& count = xids_[xid.gpu];
    ++count.errors;
    count.last = xid.code;
    const auto* gpu = node_.find_gpu(xid.gpu);
    const auto meaning = meaning_of_xid(xid.code);
    log::warn("{}: its driver has reported Xid {}{}{}", gpu ? describe(*gpu) : "GPU " + xid.gpu.to_string(),
              xid.code, meaning.empty() ? "" : ": ", meaning);
    // Whose job died of it, or is about to, looks there first.
    for (const auto* instance : instances_on(node_, xid.gpu))
        log::warn("{}: its GPU has reported Xid {}", model::describe(*instance), xid.code);
    outside_.publisher.xid_reported(xid);
}

void Service::driver_lost(const std::string& why) {
    const auto before = node_.gpus();
    gpus_changed(
        change([&](model::Node& node) -> tl::expected<Change, Refusal> { return node.lose_driver(why); }, {}),
        before);
}

void Service::gpus_changed(Result<bool> changed, const std::vector<model::Gpu>& before) {
    if (!changed) {
        log::error("GPUs: {}", changed.error().text);
        return;
    }
    if (!*changed) return;
    for (const auto& gpu : node_.gpus()) {
        if (std::find(before.begin(), before.end(), gpu) != before.end()) continue;
        log::info("{}: {}, {} MiB{}{}", describe(gpu), gpu.model_name, gpu.total.mib(),
                  gpu.present ? "" : ", not shown by the driver now",
                  gpu.obstacle.empty() ? "" : ", not shared: " + gpu.obstacle);
        if (!gpu.present) say_whose_gpu_is_lost(node_, gpu);
        outside_.publisher.gpu_changed(gpu.uuid);
    }
}

void Service::gpus_of_changed(const model::Instance& instance) {
    for (const auto& quota : instance.quotas) outside_.publisher.gpu_changed(quota.gpu);
}

}  // namespace cgpu::app
