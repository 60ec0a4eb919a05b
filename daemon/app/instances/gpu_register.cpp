#include "daemon/app/instances/gpu_register.hpp"

#include <algorithm>

#include "core/model/quote.hpp"
#include "core/model/size.hpp"
#include "daemon/app/ports/log.hpp"
#include "daemon/app/ports/lookup.hpp"

namespace cgpu::app {
namespace {

using model::Refusal;

/// The instances whose weight on the GPU follows max_inst, because they requested a percentage.
std::vector<model::InstanceId> whose_weight_followed(const model::Node& before, const model::Node& now,
                                                     const model::Uuid& gpu) {
    std::vector<model::InstanceId> whose;
    for (const auto* instance : instances_on(now, gpu)) {
        const auto* then = before.find_instance(instance->id);
        if (then != nullptr && *then != *instance) whose.push_back(instance->id);
    }
    return whose;
}

void say_whose_gpu_is_lost(const model::Node& node, const model::Gpu& gpu) {
    for (const auto* instance : instances_on(node, gpu.uuid))
        log::warn(log::about(*instance), "{}: its GPU {} is not there now{}", model::describe(*instance),
                  gpu.index, gpu.obstacle.empty() ? "" : ": " + gpu.obstacle);
}

}  // namespace

Result<void> GpuRegister::set_policy(const model::Uuid& gpu, std::string_view policy, Options options) {
    const auto parsed = model::parse_policy(policy);
    if (!parsed)
        return model::refuse(Refusal::Reason::invalid, "policy " + model::quote(policy), parsed.error(),
                             "weighted, for example");
    const auto changed = state_.change(
        [&](model::Node& node) { return node.set_policy(gpu, *parsed, lasts(options)); }, options);
    if (!changed) return tl::unexpected(changed.error());
    if (*changed) {
        const auto* now = state_.node().find_gpu(gpu);
        if (state_.node().policy_in_force(*now) != *parsed)
            log::info(log::about(*now), "{}: it divides memory only, so policy {} stays in force",
                      describe(*now), model::to_string(state_.node().policy_in_force(*now)));
        publisher_.gpu_changed(gpu);
    }
    return {};
}

Result<void> GpuRegister::set_max_inst(const model::Uuid& gpu, std::uint32_t max_inst, Options options) {
    const auto before = state_.node();
    const auto changed = state_.change(
        [&](model::Node& node) { return node.set_max_inst(gpu, max_inst, lasts(options)); }, options);
    if (!changed) return tl::unexpected(changed.error());
    if (*changed) {
        for (const auto& id : whose_weight_followed(before, state_.node(), gpu))
            publisher_.instance_changed(id);
        publisher_.gpu_changed(gpu);
    }
    return {};
}

Result<void> GpuRegister::set_prio_ratio(const model::Uuid& gpu, std::uint32_t per_cent, Options options) {
    const auto changed = state_.change(
        [&](model::Node& node) { return node.set_prio_ratio(gpu, per_cent, lasts(options)); }, options);
    if (!changed) return tl::unexpected(changed.error());
    if (*changed) publisher_.gpu_changed(gpu);
    return {};
}

XidCount GpuRegister::xids_of(const model::Uuid& gpu) const {
    const auto found = xids_.find(gpu);
    return found == xids_.end() ? XidCount{} : found->second;
}

void GpuRegister::seen(const model::SeenGpus& seen,
                       const std::function<model::GpuSettings(const model::SeenGpu&)>& settings_for) {
    std::vector<model::Sighting> sightings;
    sightings.reserve(seen.gpus.size());
    for (const auto& gpu : seen.gpus) sightings.push_back({gpu, settings_for(gpu)});
    const auto before = state_.node().gpus();
    tell_changes(state_.change([&](model::Node& node) { return node.sync_gpus(sightings, seen.lost); }, {}),
                 before);
    for (const auto& xid : seen.xids) xid_reported(xid);
}

void GpuRegister::xid_reported(const model::XidError& xid) {
    auto& count = xids_[xid.gpu];
    ++count.errors;
    count.last = xid.code;
    const auto* gpu = state_.node().find_gpu(xid.gpu);
    const auto meaning = meaning_of_xid(xid.code);
    Event event{.type = EventType::gpu_error, .level = log::Level::warn};
    event.message = (gpu ? describe(*gpu) : "GPU " + xid.gpu.to_string()) + ": its driver has reported Xid " +
                    std::to_string(xid.code) + (meaning.empty() ? "" : ": ") + std::string(meaning);
    event.gpu = xid.gpu;
    event.details["xid"] = xid.code;
    events_.happened(std::move(event));
    // A user whose job died of it, or is about to, looks at the job's log lines first.
    for (const auto* instance : instances_on(state_.node(), xid.gpu))
        log::warn(log::about(*instance), "{}: its GPU has reported Xid {}", model::describe(*instance),
                  xid.code);
    publisher_.xid_reported(xid);
}

void GpuRegister::driver_lost(const std::string& why) {
    const auto before = state_.node().gpus();
    tell_changes(
        state_.change(
            [&](model::Node& node) -> tl::expected<model::Change, Refusal> { return node.lose_driver(why); },
            {}),
        before);
}

void GpuRegister::tell_changes(Result<bool> changed, const std::vector<model::Gpu>& before) {
    if (!changed) {
        log::error("GPUs: {}", changed.error().text);
        return;
    }
    if (!*changed) return;
    for (const auto& gpu : state_.node().gpus()) {
        if (std::find(before.begin(), before.end(), gpu) != before.end()) continue;
        const bool usable = gpu.present && gpu.obstacle.empty();
        events_.happened(event_of(usable ? EventType::gpu_found : EventType::gpu_lost,
                                  usable ? log::Level::info : log::Level::warn, gpu,
                                  describe(gpu) + ": " + gpu.model_name + ", " +
                                      model::format_mib(gpu.total) +
                                      (gpu.present ? "" : ", not shown by the driver now") +
                                      (gpu.obstacle.empty() ? "" : ", not shared: " + gpu.obstacle)));
        if (!gpu.present) say_whose_gpu_is_lost(state_.node(), gpu);
        publisher_.gpu_changed(gpu.uuid);
    }
}

}  // namespace cgpu::app
