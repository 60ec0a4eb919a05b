#include <algorithm>
#include <set>

#include "core/model/node.hpp"
#include "core/model/quote.hpp"

/// Settings kept for the next starts of instances.
namespace cgpu::model {
namespace {

using Reason = Refusal::Reason;

void merge(KeptFigures& into, const KeptFigures& figures) {
    if (figures.memory_limit) into.memory_limit = figures.memory_limit;
    if (figures.weight) into.weight = figures.weight;
    if (figures.high_priority) into.high_priority = figures.high_priority;
}

/// The key by which the next starts are recognised.
tl::expected<KeptKey, Refusal> key_of(const std::string& what, const Instance& instance) {
    if (!has_name_of_its_own(instance.id, instance.name))
        return refuse(Reason::unsupported, what,
                      "it has no name of its own that its next start would have, too",
                      "give the container or job a name (docker run --name, cgpuctl run --name), or leave "
                      "--persist out");
    if (instance.name.size() > kMaxKeptName)
        return refuse(Reason::unsupported, what,
                      "its name is longer than " + std::to_string(kMaxKeptName) + " bytes",
                      "use a shorter name");
    if (!instance.creator)
        return refuse(Reason::unsupported, what,
                      "it comes from the time of a cgpud that didn't write down who made it",
                      "start the container or job anew first, or leave --persist out");
    return KeptKey{*instance.creator, instance.name, 0};
}

}  // namespace

tl::expected<Change, Refusal> Node::keep(const InstanceId& id, const Uuid& gpu, const KeptFigures& figures) {
    const std::string what =
        "keeping " + describe(figures) + " for the next starts of " + describe_instance(id);
    const auto instance = instance_for(what, id);
    if (!instance) return tl::unexpected(instance.error());
    const auto& quotas = (*instance)->quotas;
    const auto quota =
        std::find_if(quotas.begin(), quotas.end(), [&](const Quota& each) { return each.gpu == gpu; });
    if (quota == quotas.end())
        return refuse(Reason::not_found, what, "it is not on GPU " + gpu.to_string(),
                      "name a GPU that cgpuctl list shows for it");
    auto key = key_of(what, **instance);
    if (!key) return tl::unexpected(key.error());
    key->device = static_cast<std::uint32_t>(quota - quotas.begin());
    const auto there = kept().find(*key);
    if (there == kept().end() && kept().size() >= kMaxKept)
        return refuse(
            Reason::no_space, what,
            "figures of " + std::to_string(kept().size()) +
                " devices are kept on this node, and no more can be",
            "cgpuctl forget NAME for one that isn't started any more (cgpuctl list --kept shows all)");
    KeptFigures merged = there == kept().end() ? KeptFigures{} : there->second;
    merge(merged, figures);
    if (merged == KeptFigures{})
        return refuse(Reason::invalid, what, "there is nothing to keep",
                      "set a limit, a weight or a priority");
    if (there != kept().end() && there->second == merged) return Change::unchanged;
    kept_.own().insert_or_assign(std::move(*key), merged);
    return changed();
}

tl::expected<Change, Refusal> Node::forget(std::string_view name, std::optional<std::uint32_t> owner) {
    const std::string what = "forgetting what is kept for " + quote(name) +
                             (owner ? " of user id " + std::to_string(*owner) : std::string());
    std::set<std::uint32_t> owners;
    for (const auto& [key, figures] : kept())
        if (key.name == name && (!owner || *owner == key.owner)) owners.insert(key.owner);
    if (owners.empty())
        return refuse(Reason::not_found, what, "nothing is kept for it",
                      "use a name that cgpuctl list --kept shows");
    if (owners.size() > 1) {
        std::string list;
        for (const auto each : owners) list += (list.empty() ? "" : ", ") + std::to_string(each);
        return refuse(Reason::invalid, what, "several users have instances of that name",
                      "say whose with --owner, one of: " + list);
    }
    std::erase_if(kept_.own(), [&](const auto& entry) {
        return entry.first.name == name && entry.first.owner == *owners.begin();
    });
    return changed();
}

KeptOfInstance Node::kept_of(std::uint32_t owner, const InstanceId& id, const std::string& name) const {
    KeptOfInstance found;
    if (!has_name_of_its_own(id, name)) return found;
    for (auto it = kept().lower_bound({owner, name, 0});
         it != kept().end() && it->first.owner == owner && it->first.name == name; ++it)
        found.emplace(it->first.device, it->second);
    return found;
}

}  // namespace cgpu::model
