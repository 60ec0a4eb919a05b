#include "core/limits/allowance.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "core/model/counted.hpp"
#include "core/model/duration.hpp"
#include "core/model/quote.hpp"
#include "core/model/size.hpp"

namespace cgpu::limits {
namespace {

using model::Bytes;
using model::Objection;
using model::Refusal;
using Checked = tl::expected<void, Objection>;

constexpr std::size_t kMostNamed = 8;

/// `alice may have 2 GPUs (limits.users.alice.gpus)`
std::string may_have(const Holder& holder, const std::string& what, const std::string& key) {
    return describe(holder) + " may have " + what + " (" + key + ")";
}

std::string name_of(const std::string& name, Bytes memory) {
    return (model::is_plain_word(name) ? name : model::quote(name)) + " (" + model::format_size(memory) + ")";
}

/// How many whole slices of so many are that percentage.
std::uint32_t slices_of(std::uint32_t percent, std::uint32_t slices) {
    return static_cast<std::uint32_t>(std::uint64_t{percent} * slices / 100);
}

/// Sums of limits of a node don't overflow: a GPU's are no larger than it.
Bytes sum(Bytes a, Bytes b) { return Bytes(a.count() + b.count()); }

/// Adds the quotas to what is held of the GPUs, and returns the sum of their memory.
Bytes add_to(Held& held, const std::vector<model::Quota>& quotas) {
    Bytes memory;
    for (const model::Quota& quota : quotas) {
        HeldOnGpu& on = held.gpus[quota.gpu];
        on.memory = sum(on.memory, quota.memory_limit);
        on.weight += quota.weight;
        memory = sum(memory, quota.memory_limit);
    }
    return memory;
}

}  // namespace

Bytes Held::memory() const {
    Bytes all;
    for (const auto& [gpu, its] : gpus) all = sum(all, its.memory);
    return all;
}

Held held_by(const model::Node& node, const Rules& rules, const Holder& holder) {
    Held held;
    for (const auto& [id, instance] : node.instances()) {
        if (!is_held(rules, holder, instance.owner)) continue;
        const Bytes memory = add_to(held, instance.quotas);
        held.instances.push_back(name_of(instance.name.empty() ? id.short_id() : instance.name, memory));
    }
    return held;
}

void Allowance::add(const std::string& name, const std::vector<model::Quota>& quotas) {
    const Bytes memory = add_to(held_, quotas);
    held_.instances.push_back(name_of(name, memory));
}

void Allowance::keep_back(const std::vector<model::Quota>& quotas) {
    add_to(held_, quotas);
    ++held_.kept_back;
}

std::string Allowance::remedy() const {
    const std::string more = "ask the administrator for more";
    return held_.instances.empty() ? more : "end one of these instances, or " + more;
}

std::string Allowance::in_use() const {
    const std::string before =
        held_.kept_back == 0 ? ""
                             : ", and " + model::counted(held_.kept_back, "request") + " that asked before";
    if (held_.instances.empty()) return "and has nothing yet" + before;
    std::string text = "and has " + model::counted(held_.instances.size(), "instance") + ": ";
    for (std::size_t i = 0; i < std::min(held_.instances.size(), kMostNamed); ++i)
        text += (i == 0 ? "" : ", ") + held_.instances[i];
    if (held_.instances.size() <= kMostNamed) return text + before;
    return text + " and " + std::to_string(held_.instances.size() - kMostNamed) + " more" + before;
}

Checked Allowance::check_gpu(const model::Quota& quota) const {
    const auto its = held_.gpus.find(quota.gpu);
    const HeldOnGpu has = its == held_.gpus.end() ? HeldOnGpu{} : its->second;
    if (const auto& rule = rules_.memory_per_gpu; rule && sum(has.memory, quota.memory_limit) > rule->most) {
        const Bytes left = has.memory < rule->most ? Bytes(rule->most.count() - has.memory.count()) : Bytes();
        return object_to(
            Refusal::Reason::no_memory, model::format_size(quota.memory_limit),
            may_have(holder_, model::format_size(rule->most) + " of one GPU", rule->key) + ", of which " +
                model::format_size(left) + " is left on it, " + in_use(),
            left.count() > 0 ? "ask for " + model::format_size(left) + " or less, or " + remedy() : remedy());
    }
    return check_compute(quota, has);
}

/// What is left of a GPU's compute is whole slices, so a small percentage may be none of them.
Checked Allowance::check_compute(const model::Quota& quota, const HeldOnGpu& has) const {
    const model::Gpu* gpu = node_.find_gpu(quota.gpu);
    const auto& rule = rules_.compute;
    if (!rule || gpu == nullptr) return {};
    const std::uint32_t slices = gpu->settings.max_inst;
    const std::uint32_t most = slices_of(rule->most, slices);
    if (has.weight + quota.weight <= most) return {};
    const std::string asked = "weight " + std::to_string(quota.weight);
    const std::string may =
        may_have(holder_, std::to_string(rule->most) + "% of a GPU's " + std::to_string(slices) + " slices",
                 rule->key);
    const auto is_enough = [&](const model::Gpu& other) {
        return other.present && slices_of(rule->most, other.settings.max_inst) > 0;
    };
    const auto other = std::ranges::find_if(node_.gpus(), is_enough);
    if (most == 0)
        return object_to(Refusal::Reason::no_space, asked, may + ", which is less than one of them",
                         (other == node_.gpus().end()
                              ? ""
                              : "use GPU " + std::to_string(other->index) + ", which has more slices, or ") +
                             "ask the administrator for " + std::to_string((99 + slices) / slices) +
                             "% or more");
    const std::uint32_t left = most - std::min(most, has.weight);
    return object_to(
        Refusal::Reason::no_space, asked,
        may + ", and has weight " + std::to_string(has.weight) + " there, " + in_use(),
        left > 0 ? "ask for weight " + std::to_string(left) + " or less, or " + remedy() : remedy());
}

Checked Allowance::check_number() const {
    if (const auto& rule = rules_.instances; rule && held_.instances.size() + held_.kept_back >= rule->most)
        return object(Refusal::Reason::no_space,
                      may_have(holder_, model::counted(rule->most, "instance"), rule->key) + ", " + in_use(),
                      remedy());
    return {};
}

Checked Allowance::check_span(std::uint64_t seconds, const std::optional<Part<std::uint64_t>>& rule,
                              const std::string& of) const {
    if (!rule || seconds <= rule->most) return {};
    const std::string most = model::format_duration(rule->most);
    return object_to(Refusal::Reason::no_space, model::format_duration(seconds) + of,
                     may_have(holder_, most + of + " for each instance", rule->key),
                     "ask for " + most + " or less, or ask the administrator for more");
}

Checked Allowance::check_time(std::uint64_t seconds) const { return check_span(seconds, rules_.time, ""); }

Checked Allowance::check_idle(std::uint64_t seconds) const {
    return check_span(seconds, rules_.idle, " without work");
}

Checked Allowance::check_all(const std::vector<model::Quota>& quotas) const {
    Bytes memory = held_.memory();
    std::set<model::Uuid> gpus;
    for (const auto& [gpu, its] : held_.gpus) gpus.insert(gpu);
    for (const model::Quota& quota : quotas) {
        if (quota.high_priority && rules_.priority && !rules_.priority->most)
            return object(Refusal::Reason::not_permitted,
                          describe(holder_) + " may not have high priority (" + rules_.priority->key + ")",
                          "ask for normal priority");
        if (auto checked = check_gpu(quota); !checked) return checked;
        memory = sum(memory, quota.memory_limit);
        gpus.insert(quota.gpu);
    }
    if (const auto& rule = rules_.gpus; rule && gpus.size() > rule->most && gpus.size() > held_.gpus.size())
        return object_to(Refusal::Reason::no_space, model::counted(gpus.size(), "GPU") + " at once",
                         may_have(holder_, model::counted(rule->most, "GPU"), rule->key) + ", " + in_use(),
                         remedy());
    if (const auto& rule = rules_.memory; rule && memory > rule->most)
        return object_to(
            Refusal::Reason::no_memory, model::format_size(Bytes(memory.count() - held_.memory().count())),
            may_have(holder_, model::format_size(rule->most) + " in all", rule->key) + ", " + in_use(),
            remedy());
    return {};
}

}  // namespace cgpu::limits
