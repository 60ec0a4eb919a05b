#include "daemon/app/instances/gpu_register.hpp"

#include <algorithm>

#include "core/model/size.hpp"
#include "daemon/app/ports/log.hpp"
#include "daemon/app/ports/lookup.hpp"

namespace cgpu::app {
namespace {

using model::Refusal;

void say_whose_gpu_is_lost(const model::Node& node, const model::Gpu& gpu) {
    for (const auto* instance : instances_on(node, gpu.uuid))
        log::warn(log::about(*instance), "{}: its GPU {} is not there now{}", model::describe(*instance),
                  gpu.index, gpu.obstacle.empty() ? "" : ": " + gpu.obstacle);
}

}  // namespace

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
    }
    publisher_.gpus_changed();
}

}  // namespace cgpu::app
