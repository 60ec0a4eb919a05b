#include "core/model/node.hpp"
#include "core/model/percent.hpp"

/// The way back to what an instance was admitted with.
namespace cgpu::model {

tl::expected<Change, Refusal> Node::revert_quota(const InstanceId& id, const Uuid& uuid, Bytes in_use) {
    using Reason = Refusal::Reason;
    const std::string what = "what " + describe_instance(id) + " was admitted with";
    auto gpu = gpu_for(what, uuid);
    if (!gpu) return tl::unexpected(gpu.error());
    const auto instance = instance_for(what, id);
    if (!instance) return tl::unexpected(instance.error());
    const Quota* now = (*instance)->quota_on(uuid);
    if (now == nullptr)
        return refuse(Reason::not_found, what, "it is not on " + describe(**gpu),
                      "name a GPU that cgpuctl list shows for it");
    if (!now->admitted) return Change::unchanged;

    const Admitted then = *now->admitted;
    const std::uint32_t max_inst = (*gpu)->settings.max_inst;
    const auto weight = then.percent ? slices_of(*then.percent, max_inst) : then.weight;
    if (!weight)
        return refuse(Reason::busy, what,
                      std::to_string(*then.percent) + "% of the compute is no whole number of the " +
                          std::to_string(max_inst) + " slices of " + describe(**gpu),
                      "set another max_inst first, or cgpuctl set-weight");
    if (then.exclusive && occupants_of(uuid).size() > 1)
        return refuse(Reason::busy, what, "that was the whole " + describe(**gpu) + ", which others use now",
                      "do the same again when they have ended");
    if (*weight > free_weight(uuid) + now->weight)
        return refuse(Reason::no_space, what,
                      "that was weight " + std::to_string(*weight) + ", and it has " +
                          std::to_string(now->weight) + " and " + std::to_string(free_weight(uuid)) + " of " +
                          std::to_string(max_inst) + " is free on " + describe(**gpu),
                      "lower the weight of another instance, or raise max_inst");
    Node next = *this;
    if (auto set = next.set_memory(id, uuid, then.memory_limit, in_use); !set) return set;
    for (Quota& quota : next.instances_.own(id)->quotas) {
        if (quota.gpu != uuid) continue;
        quota.weight = *weight;
        quota.high_priority = then.high_priority;
        quota.exclusive = then.exclusive;
        quota.percent = then.percent;
        quota.admitted.reset();
    }
    next.generation_ = generation_;
    *this = std::move(next);
    return changed();
}

}  // namespace cgpu::model
