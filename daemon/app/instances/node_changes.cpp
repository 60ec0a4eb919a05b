#include "daemon/app/instances/node_changes.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "core/model/quote.hpp"
#include "daemon/app/ports/lookup.hpp"

namespace cgpu::app {
namespace {

using model::Refusal;

std::string numbered(std::size_t change) { return "change " + std::to_string(change + 1); }

/// The transitions that make the changes.
class Plan {
  public:
    Plan(const model::Node& node, UsageSource& usage, Options options)
        : node_(node), usage_(usage), options_(options) {}

    /// Refused: it names something that isn't there, sets nothing, or sets what an earlier one sets.
    Result<void> add(const NodeChange& change) {
        auto added = std::visit([this](const auto& each) { return add_change(each); }, change);
        ++changes_;
        return added;
    }

    /// Those of GPUs come first, so the result doesn't depend on the order in which the changes are given.
    [[nodiscard]] std::vector<model::Transition> transitions() const {
        std::vector<model::Transition> all;
        for (const auto* steps : {&of_gpus_, &of_quotas_})
            for (const auto& step : *steps) all.push_back(step.transition);
        return all;
    }
    /// Which change the transition belongs to, from 0.
    [[nodiscard]] std::size_t change_of(std::size_t transition) const {
        return transition < of_gpus_.size() ? of_gpus_[transition].change
                                            : of_quotas_[transition - of_gpus_.size()].change;
    }

  private:
    struct Step {
        std::size_t change;
        model::Transition transition;
    };

    Result<void> add_change(const GpuChange& change) {
        const auto uuid = find_gpu(node_, change.gpu);
        if (!uuid) return tl::unexpected(uuid.error());
        const std::string of = " of " + describe(*node_.find_gpu(*uuid));
        if (change.policy) {
            const auto policy = model::parse_policy(*change.policy);
            if (!policy)
                return model::refuse(Refusal::Reason::invalid, "policy " + model::quote(*change.policy),
                                     policy.error(), "weighted, for example");
            put(of_gpus_, "the policy" + of,
                [uuid = *uuid, policy = *policy, lasts = lasts(options_)](auto& node) {
                    return node.set_policy(uuid, policy, lasts);
                });
        }
        if (change.max_inst)
            put(of_gpus_, "max_inst" + of,
                [uuid = *uuid, n = *change.max_inst, lasts = lasts(options_)](auto& node) {
                    return node.set_max_inst(uuid, n, lasts);
                });
        if (change.prio_ratio)
            put(of_gpus_, "prio_ratio" + of,
                [uuid = *uuid, n = *change.prio_ratio, lasts = lasts(options_)](auto& node) {
                    return node.set_prio_ratio(uuid, n, lasts);
                });
        return judge("policy, max-inst or prio-ratio");
    }

    Result<void> add_change(const QuotaChange& change) {
        const auto id = find_instance(node_, change.instance);
        if (!id) return tl::unexpected(id.error());
        const auto uuid = find_gpu_of(node_, *id, change.gpu);
        if (!uuid) return tl::unexpected(uuid.error());
        const std::string of =
            " of " + model::describe(*node_.find_instance(*id)) + " on " + describe(*node_.find_gpu(*uuid));
        if (change.memory_limit) {
            const model::Bytes in_use(options_.force ? 0 : usage_.usage(*id, *uuid).memory_used);
            put(of_quotas_, "the memory" + of,
                [id = *id, uuid = *uuid, limit = *change.memory_limit, in_use](auto& node) {
                    return node.set_memory(id, uuid, limit, in_use);
                });
        }
        if (change.weight)
            put(of_quotas_, "the weight" + of, [id = *id, uuid = *uuid, n = *change.weight](auto& node) {
                return node.set_weight(id, uuid, n);
            });
        if (change.high_priority)
            put(of_quotas_, "the priority" + of,
                [id = *id, uuid = *uuid, high = *change.high_priority](auto& node) {
                    return node.set_high_priority(id, uuid, high);
                });
        if (auto judged = judge("memory-limit, weight or high-priority"); !judged) return judged;
        if (options_.persist)
            of_quotas_.push_back({changes_, [id = *id, uuid = *uuid,
                                             figures = model::KeptFigures{change.memory_limit, change.weight,
                                                                          change.high_priority}](auto& node) {
                                      return node.keep(id, uuid, figures);
                                  }});
        return {};
    }

    void put(std::vector<Step>& steps, const std::string& setting, model::Transition transition) {
        sets_something_ = true;
        const auto [earlier, is_new] = set_by_.emplace(setting, changes_);
        if (!is_new) twice_.emplace(*earlier);
        steps.push_back({changes_, std::move(transition)});
    }

    /// Of the change that is being added.
    Result<void> judge(const char* settings) {
        if (!std::exchange(sets_something_, false))
            return model::refuse(Refusal::Reason::invalid, "settings", "it has none", settings);
        if (!twice_) return {};
        return model::refuse(Refusal::Reason::invalid, twice_->first,
                             numbered(twice_->second) + " sets it, too", "leave one of them out");
    }

    const model::Node& node_;
    UsageSource& usage_;
    Options options_;
    std::size_t changes_ = 0;
    std::vector<Step> of_gpus_;
    std::vector<Step> of_quotas_;
    std::map<std::string, std::size_t> set_by_;  ///< settings, and the change that sets each
    std::optional<std::pair<std::string, std::size_t>> twice_;
    bool sets_something_ = false;
};

tl::unexpected<Refusal> refused(std::size_t change, Refusal refusal) {
    refusal.text = numbered(change) + ": " + refusal.text;
    return tl::unexpected(std::move(refusal));
}

}  // namespace

Result<std::uint64_t> NodeChanges::apply(const std::vector<NodeChange>& changes, Options options) {
    if (changes.size() > kMost)
        return model::refuse(Refusal::Reason::invalid, "changes",
                             "there are " + std::to_string(changes.size()) + " of them",
                             std::to_string(kMost) + " at most at once");
    const model::Node before = state_.node();
    Plan plan(before, usage_, options);
    for (std::size_t change = 0; change < changes.size(); ++change)
        if (auto added = plan.add(changes[change]); !added) return refused(change, added.error());
    const auto all = plan.transitions();
    const auto changed = state_.change(
        [&](model::Node& node) -> tl::expected<model::Change, Refusal> {
            const auto done = model::do_all(node, all);
            if (!done) return refused(plan.change_of(done.error().which), done.error().refusal);
            return *done;
        },
        options);
    if (!changed) return tl::unexpected(changed.error());
    if (*changed) tell(before);
    return state_.node().generation();
}

void NodeChanges::tell(const model::Node& before) {
    std::vector<model::Uuid> gpus;
    for (const auto& gpu : state_.node().gpus()) {
        const auto* then = before.find_gpu(gpu.uuid);
        if (then == nullptr || then->settings == gpu.settings) continue;
        gpus.push_back(gpu.uuid);
    }
    for (const auto& [id, instance] : state_.node().instances()) {
        const auto* then = before.find_instance(id);
        if (then == nullptr || *then == instance) continue;
        for (std::size_t which = 0; which < instance.quotas.size(); ++which) {
            const auto& quota = instance.quotas[which];
            if (quota == then->quotas[which]) continue;
            if (std::find(gpus.begin(), gpus.end(), quota.gpu) == gpus.end()) gpus.push_back(quota.gpu);
        }
        links_.refresh(instance);
        publisher_.instance_changed(id);
    }
    for (const auto& gpu : gpus) publisher_.gpu_changed(gpu);
}

}  // namespace cgpu::app
