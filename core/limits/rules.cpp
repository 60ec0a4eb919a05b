#include "core/limits/rules.hpp"

#include <algorithm>
#include <utility>

namespace cgpu::limits {
namespace {

/// Whether a key of the configuration names this user or group: by its name or its id.
bool names(const std::string& key, std::uint32_t id, const std::string& name) {
    return (!name.empty() && key == name) || key == std::to_string(id);
}

/// The part of a rule, if nothing narrower has said it.
template <class Value>
void take(std::optional<Part<Value>>& into, const std::optional<Value>& part, const std::string& key) {
    if (part && !into) into = Part<Value>{*part, key};
}

/// Every part by its name, with the same of what is in force.
template <class Take>
void each_part(InForce& into, const Rule& rule, const std::string& key, const Take& take_part) {
    take_part(into.instances, rule.instances, key + ".instances");
    take_part(into.gpus, rule.gpus, key + ".gpus");
    take_part(into.memory, rule.memory, key + ".memory");
    take_part(into.memory_per_gpu, rule.memory_per_gpu, key + ".memory_per_gpu");
    take_part(into.compute, rule.compute, key + ".compute");
    take_part(into.priority, rule.priority, key + ".priority");
    take_part(into.time, rule.time, key + ".time");
    take_part(into.idle, rule.idle, key + ".idle");
}

constexpr auto kTakeMissing = [](auto& into, const auto& part, const std::string& key) {
    take(into, part, key);
};

/// Of several rules of one kind the strictest part counts; `false` is stricter than `true`.
constexpr auto kTakeStricter = [](auto& into, const auto& part, const std::string& key) {
    if (part && (!into || *part < into->most)) into = {*part, key};
};

InForce of_groups(const Rules& rules, const std::vector<Group>& groups) {
    InForce found;
    for (const auto& [key, rule] : rules.groups)
        if (std::ranges::any_of(
                groups, [&, &key = key](const Group& group) { return names(key, group.id, group.name); }))
            each_part(found, rule, "limits.groups." + key, kTakeStricter);
    return found;
}

/// What `wider` says where `narrow` says nothing.
void complete(InForce& narrow, const InForce& wider) {
    const auto fill = [](auto& into, const auto& part) {
        if (!into) into = part;
    };
    fill(narrow.instances, wider.instances);
    fill(narrow.gpus, wider.gpus);
    fill(narrow.memory, wider.memory);
    fill(narrow.memory_per_gpu, wider.memory_per_gpu);
    fill(narrow.compute, wider.compute);
    fill(narrow.priority, wider.priority);
    fill(narrow.time, wider.time);
    fill(narrow.idle, wider.idle);
}

}  // namespace

std::string describe(const Holder& holder) {
    switch (holder.kind) {
        case Holder::Kind::user:
            return holder.name.empty() ? "user id " + std::to_string(holder.user) : holder.name;
        case Holder::Kind::declared:
            return holder.name + " (declared)";
        case Holder::Kind::containers:
            break;
    }
    return "the containers of root's engine together";
}

bool is_held(const Rules& rules, const Holder& holder, const model::Owner& owner) {
    // Nobody becomes root, who has no limits, by declaring it.
    const bool declares =
        !owner.user && rules.trust_declared_owners && !owner.declared.empty() && owner.declared != "root";
    switch (holder.kind) {
        case Holder::Kind::user:
            return owner.user == holder.user || (declares && owner.declared == holder.name);
        case Holder::Kind::declared:
            return declares && owner.declared == holder.name;
        case Holder::Kind::containers:
            break;
    }
    return !owner.user && !declares;
}

InForce in_force(const Rules& rules, const Holder& holder) {
    InForce found;
    if (holder.kind == Holder::Kind::containers) {
        each_part(found, rules.containers, "limits.containers", kTakeMissing);
        return found;
    }
    const bool is_user = holder.kind == Holder::Kind::user;
    for (const auto& [key, rule] : rules.users)
        if (is_user ? names(key, holder.user, holder.name) : key == holder.name)
            each_part(found, rule, "limits.users." + key, kTakeStricter);
    // Whoever may change the limits isn't bound by those of others.
    if (is_user && holder.user == 0) return found;
    complete(found, of_groups(rules, holder.groups));
    each_part(found, rules.others, "limits.default", kTakeMissing);
    return found;
}

}  // namespace cgpu::limits
