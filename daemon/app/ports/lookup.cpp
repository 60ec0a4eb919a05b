#include "daemon/app/ports/lookup.hpp"

#include <algorithm>
#include <string>

#include "core/model/gpu_word.hpp"
#include "core/model/instance_word.hpp"
#include "core/model/quote.hpp"
#include "core/model/similar.hpp"

namespace cgpu::app {
namespace {

using model::Refusal;

/// As many candidates as a refusal names.
constexpr std::size_t kMostNamed = 16;

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
std::string likely_instance(const std::vector<const model::Instance*>& all, std::string_view instance) {
    std::vector<std::string_view> names;
    names.reserve(all.size());
    for (const auto* each : all) names.push_back(each->name);
    const auto likely = model::most_similar(instance, names);
    return likely.empty() ? "" : "name " + model::quote(likely) + " if that is meant, or ";
}

/// `0123456789ab ("web", user id 1000), 3210456789ab`; with the whole id if others begin with the same 12
/// characters.
std::string list_of(const std::vector<const model::Instance*>& instances) {
    std::string list;
    for (std::size_t each = 0; each < std::min(instances.size(), kMostNamed); ++each) {
        const model::InstanceId& id = instances[each]->id;
        const model::Owner& owner = instances[each]->owner;
        std::string more = instances[each]->name.empty() ? "" : model::quote(instances[each]->name);
        if (owner != model::Owner{}) more += (more.empty() ? "" : ", ") + model::describe(owner);
        const auto is_alike = [&id](const auto* other) { return other->id.short_id() == id.short_id(); };
        const bool is_clear = std::ranges::count_if(instances, is_alike) == 1;
        list += (list.empty() ? "" : ", ") + (is_clear ? id.short_id() : id.str());
        if (!more.empty()) list += " (" + more + ")";
    }
    if (instances.size() > kMostNamed)
        list += " or " + std::to_string(instances.size() - kMostNamed) + " others of `cgpuctl list`";
    return list;
}

}  // namespace

Result<model::Uuid> find_gpu(const model::Node& node, std::string_view gpu) {
    const auto word = model::parse_gpu_word(gpu);
    if (!word) return no_gpu(node, gpu);
    // By its UUID a GPU is also found while the driver doesn't show it.
    if (const auto* uuid = std::get_if<model::Uuid>(&*word); uuid && node.find_gpu(*uuid)) return *uuid;
    const auto meant = model::gpus_meant(*word, node.gpus());
    if (meant.size() == 1) return meant.front()->uuid;
    if (const auto* lost = model::lost_gpu_meant(*word, node.gpus()))
        return model::refuse(
            Refusal::Reason::not_found, "GPU " + std::to_string(lost->index) + " is lost",
            model::why_lost(*lost),
            "nvidia-smi, and the kernel's log (journalctl -k); by its UUID its settings can be "
            "changed all the same");
    if (meant.empty()) return no_gpu(node, gpu);
    return model::refuse(Refusal::Reason::invalid, "GPU " + model::quote(gpu),
                         std::to_string(meant.size()) + " GPUs begin with it",
                         "use more of the UUID that cgpuctl status shows");
}

Result<model::InstanceId> find_instance(const model::Node& node, std::string_view instance,
                                        const Naming& naming) {
    std::vector<const model::Instance*> all;
    for (const auto& [id, each] : node.instances()) all.push_back(&each);
    return find_instance(all, instance, naming);
}

Result<model::InstanceId> find_instance(const std::vector<const model::Instance*>& all,
                                        std::string_view instance, const Naming& naming) {
    std::vector<model::Named> named;
    named.reserve(all.size());
    for (const auto* each : all) named.push_back({each->id.str(), each->name, each->owner.user});
    const auto meant = model::meant_by(instance, named, naming.user);
    const bool resembles = naming.to_change && meant.size() == 1 &&
                           model::only_resembles(instance, named[meant.front()], naming.user);
    const auto what = "instance " + model::quote(instance);
    if (resembles)
        return model::refuse(Refusal::Reason::not_found, what, std::string(model::kOnlyResembles),
                             "name " + list_of({all[meant.front()]}) + " if that is meant");
    if (meant.size() == 1) return all[meant.front()]->id;
    if (meant.empty())
        return model::refuse(
            Refusal::Reason::not_found, what, "there is no such instance",
            likely_instance(all, instance) + "use an id, a prefix of one, or a name of `cgpuctl list`");
    std::vector<const model::Instance*> candidates;
    candidates.reserve(meant.size());
    for (const auto each : meant) candidates.push_back(all[each]);
    return model::refuse(Refusal::Reason::invalid, what, "several instances are meant by it",
                         "name one of: " + list_of(candidates));
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
