#include "daemon/app/ports/lookup.hpp"

#include <charconv>

#include "core/model/quote.hpp"
#include "core/model/similar.hpp"

namespace cgpu::app {
namespace {

using model::Refusal;

constexpr std::size_t kShortestPrefix = 4;

tl::unexpected<Refusal> no_gpu(const model::Node& node, std::string_view gpu) {
    std::string known;
    for (const auto& each : node.gpus()) {
        if (!each.present) continue;
        if (!known.empty()) known += ", ";
        known += std::to_string(each.index) + " (" + each.uuid.to_string() + ")";
    }
    return model::refuse(
        Refusal::Reason::not_found, "GPU " + model::quote(gpu), "there is no such GPU on this node",
        known.empty() ? "look at nvidia-smi: the driver shows no GPU now" : "name one of: " + known);
}

/// The beginning of a remedy; empty if no name is similar.
std::string likely_instance(const model::Node& node, std::string_view instance) {
    std::vector<std::string_view> names;
    for (const auto& [id, each] : node.instances()) names.push_back(each.name);
    const auto likely = model::most_similar(instance, names);
    return likely.empty() ? "" : "name " + model::quote(likely) + " if that is meant, or ";
}

}  // namespace

Result<model::Uuid> find_gpu(const model::Node& node, std::string_view gpu) {
    std::uint32_t index = 0;
    const auto* end = gpu.data() + gpu.size();
    if (const auto [stop, error] = std::from_chars(gpu.data(), end, index);
        !gpu.empty() && error == std::errc{} && stop == end) {
        if (const auto* found = node.find_gpu_by_index(index)) return found->uuid;
    } else if (const auto uuid = model::Uuid::parse(gpu); uuid && node.find_gpu(*uuid)) {
        return *uuid;
    }
    return no_gpu(node, gpu);
}

Result<model::InstanceId> find_instance(const model::Node& node, std::string_view instance) {
    std::vector<model::InstanceId> found;
    std::vector<model::InstanceId> in_another_case;
    const std::string small = model::lowered(instance);
    for (const auto& [id, each] : node.instances()) {
        if (id.str() == instance) return id;
        const bool by_prefix = instance.size() >= kShortestPrefix && id.str().starts_with(instance);
        if (by_prefix || (!instance.empty() && each.name == instance))
            found.push_back(id);
        else if (!instance.empty() && model::lowered(each.name) == small)
            in_another_case.push_back(id);
    }
    if (found.empty()) found = std::move(in_another_case);
    if (found.size() == 1) return found.front();
    const auto what = "instance " + model::quote(instance);
    if (found.empty())
        return model::refuse(
            Refusal::Reason::not_found, what, "there is no such instance",
            likely_instance(node, instance) + "use an id, a prefix of one, or a name of `cgpuctl list`");
    std::string ids;
    for (const auto& id : found) ids += (ids.empty() ? "" : ", ") + id.short_id();
    return model::refuse(Refusal::Reason::invalid, what, "several instances are meant by it",
                         "name one of: " + ids);
}

Result<model::Uuid> find_gpu_of(const model::Node& node, const model::InstanceId& id, std::string_view gpu) {
    const auto* instance = node.find_instance(id);
    if (!instance)
        return model::refuse(Refusal::Reason::not_found, "instance " + id.short_id(), "it has ended",
                             "look at `cgpuctl list`");
    if (gpu.empty()) {
        if (instance->quotas.size() == 1) return instance->quotas.front().gpu;
        return model::refuse(Refusal::Reason::invalid, "instance " + id.short_id(),
                             "it has " + std::to_string(instance->quotas.size()) + " GPUs",
                             "say which with --gpu");
    }
    auto uuid = find_gpu(node, gpu);
    if (!uuid) return uuid;
    if (!instance->quota_on(*uuid))
        return model::refuse(Refusal::Reason::not_found, "GPU " + std::string(gpu),
                             "instance " + id.short_id() + " has no part of it", "look at `cgpuctl show`");
    return uuid;
}

std::vector<const model::Instance*> instances_on(const model::Node& node, const model::Uuid& gpu) {
    std::vector<const model::Instance*> found;
    for (const auto& [id, instance] : node.instances())
        if (instance.quota_on(gpu)) found.push_back(&instance);
    return found;
}

}  // namespace cgpu::app
