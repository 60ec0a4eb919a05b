#include <set>

#include "core/model/node.hpp"
#include "core/model/percent.hpp"
#include "core/model/quote.hpp"

namespace cgpu::model {
namespace {

using Reason = Refusal::Reason;

tl::unexpected<Refusal> broken(std::string_view why) {
    return refuse(Reason::invalid, "saved state", why,
                  "restore a copy of the state, or move it away to start empty");
}

bool settings_in_range(const GpuSettings& settings) {
    return settings.max_inst >= kMinMaxInst && settings.max_inst <= kMaxMaxInst &&
           settings.prio_ratio >= kMinPrioRatio && settings.prio_ratio <= kMaxPrioRatio;
}

tl::expected<void, Refusal> check_gpu(const Node& node, const Gpu& gpu) {
    const std::string what = describe(gpu);
    if (!settings_in_range(gpu.settings)) return broken(what + " has a setting that is out of range");
    const auto there = node.occupants_of(gpu.uuid);
    if (there.size() > gpu.settings.max_inst) return broken(what + " has more instances than max_inst");
    std::uint64_t weights = 0;
    for (const auto& [instance, quota] : there) {
        weights += quota->weight;
        if (instance->mode != there.front().instance->mode)
            return broken(what + " has instances of different modes");
        if (quota->exclusive && there.size() > 1)
            return broken(what + " is shared though one instance has all of it");
        if (weight_under(*quota, gpu.settings.max_inst) != quota->weight)
            return broken(what + " has an instance whose weight is not its percentage");
    }
    // The sum of the memory limits is not checked: a new driver may reserve more of a card than the last one.
    if (weights > gpu.settings.max_inst)
        return broken(what + " has weights that add up to more than max_inst");
    return {};
}

tl::expected<void, Refusal> check_instance(const Node& node, const Instance& instance) {
    const std::string what = "instance " + instance.id.short_id();
    if (instance.quotas.empty() || instance.quotas.size() > kMaxGpusPerInstance)
        return broken(what + " has no GPU, or too many");
    if (instance.attached && instance.attached->pid <= 0) return broken(what + " is attached to no process");
    if (!instance.owner.declared.empty() &&
        (instance.owner.user || !check_owner_name(instance.owner.declared)))
        return broken(what + " declares an owner that can't be one");
    std::set<Uuid> gpus;
    for (const Quota& quota : instance.quotas) {
        if (node.find_gpu(quota.gpu) == nullptr)
            return broken(what + " is on a GPU that is not in the state");
        if (!gpus.insert(quota.gpu).second) return broken(what + " is on one GPU twice");
        if (quota.memory_limit == Bytes{}) return broken(what + " has a memory limit of zero");
        if (quota.admitted && quota.admitted->memory_limit == Bytes{})
            return broken(what + " was admitted with a memory limit of zero");
    }
    return {};
}

tl::expected<void, Refusal> check_kept(const Kept& kept) {
    if (kept.size() > kMaxKept) return broken("figures of too many devices are kept");
    for (const auto& [key, figures] : kept) {
        const std::string what = "what is kept for " + quote(key.name);
        if (key.name.empty() || key.name.size() > kMaxKeptName)
            return broken(what + " has no name, or a too long one");
        if (key.device >= kMaxGpusPerInstance) return broken(what + " is of a device that no instance has");
        if (figures == KeptFigures{}) return broken(what + " is nothing");
        if (figures.memory_limit == Bytes{}) return broken(what + " is a memory limit of zero");
        if (figures.weight && (*figures.weight < 1 || *figures.weight > kMaxMaxInst))
            return broken(what + " is a weight that is out of range");
    }
    return {};
}

}  // namespace

tl::expected<Node, Refusal> Node::restore(std::uint64_t generation, std::vector<Gpu> gpus,
                                          std::vector<Instance> instances, Kept kept,
                                          std::optional<Bytes> default_memory, UntilReboot until_reboot,
                                          std::string boot_id, SpentList spent) {
    Node node;
    node.generation_ = generation;
    node.gpus_ = std::move(gpus);
    node.sort_gpus();
    for (Instance& instance : instances) {
        if (instance.generation > generation)
            return broken("an instance is newer than the state that holds it");
        const InstanceId id = instance.id;
        if (!node.instances_.add(std::move(instance)))
            return broken("instance " + id.short_id() + " is in it twice");
    }
    std::set<Uuid> uuids;
    for (const Gpu& gpu : node.gpus_) {
        if (!uuids.insert(gpu.uuid).second) return broken(describe(gpu) + " is in it twice");
        if (auto checked = check_gpu(node, gpu); !checked) return tl::unexpected(checked.error());
    }
    for (const auto& [id, instance] : node.instances_)
        if (auto checked = check_instance(node, instance); !checked) return tl::unexpected(checked.error());
    if (auto checked = check_kept(kept); !checked) return tl::unexpected(checked.error());
    if (spent.size() > kMostSpent) return broken("too many instances ended when their time was over");
    for (const auto& [uuid, settings] : until_reboot.gpus)
        if (node.find_gpu(uuid) == nullptr || !settings_in_range(settings))
            return broken("what holds for GPU " + uuid.to_string() + " after a reboot is out of range");
    node.kept_ = Shared(std::move(kept));
    if (!spent.empty()) node.spent_ = Shared(std::move(spent));
    node.default_memory_ = default_memory;
    // Of nothing there is no boot to know.
    if (!until_reboot.empty()) node.boot_id_ = std::move(boot_id);
    node.until_reboot_ = std::move(until_reboot);
    return node;
}

}  // namespace cgpu::model
