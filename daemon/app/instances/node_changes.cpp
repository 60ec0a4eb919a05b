#include "daemon/app/instances/node_changes.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "core/model/differences.hpp"
#include "core/model/quote.hpp"
#include "daemon/app/instances/base/lowered.hpp"
#include "daemon/app/ports/log.hpp"
#include "daemon/app/ports/lookup.hpp"

namespace cgpu::app {
namespace {

using model::Refusal;

Result<model::InstanceId> find(const model::Node& node,
                               const std::variant<std::string, model::InstanceId>& instance,
                               const std::optional<Who>& by) {
    if (const auto* word = std::get_if<std::string>(&instance))
        return find_instance(node, *word, {by ? std::optional(by->user) : std::nullopt, true});
    const auto& id = std::get<model::InstanceId>(instance);
    if (node.find_instance(id) != nullptr) return id;
    return model::refuse(Refusal::Reason::not_found, "instance " + id.short_id(), "it has ended",
                         "look at `cgpuctl list`");
}

std::string numbered(std::size_t change) { return "change " + std::to_string(change + 1); }

/// The transitions that make the changes.
class Plan {
  public:
    Plan(const model::Node& node, UsageSource& usage, const NodeChanges::Configured& configured,
         Options options)
        : node_(node), usage_(usage), configured_(configured), options_(options) {}

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
        const model::Gpu& gpu = *node_.find_gpu(*uuid);
        if (change.revert) {
            if (options_.runtime)
                return model::refuse(Refusal::Reason::invalid, "revert of " + describe(gpu),
                                     "the configuration holds until something else is set",
                                     "leave the option runtime out");
            const auto configured = configured_(gpu);
            constexpr auto kConfigured = model::Lasts::as_configured;
            set_policy(gpu, configured.policy, kConfigured);
            set_max_inst(gpu, configured.max_inst, kConfigured);
            set_prio_ratio(gpu, configured.prio_ratio, kConfigured);
        }
        if (change.policy) {
            const auto policy = model::parse_policy(*change.policy);
            if (!policy)
                return model::refuse(Refusal::Reason::invalid, "policy " + model::quote(*change.policy),
                                     policy.error(), "weighted, for example");
            set_policy(gpu, *policy, lasts(options_));
        }
        if (change.max_inst) set_max_inst(gpu, *change.max_inst, lasts(options_));
        if (change.prio_ratio) set_prio_ratio(gpu, *change.prio_ratio, lasts(options_));
        if (change.drained) {
            if (options_.runtime)
                return model::refuse(Refusal::Reason::invalid,
                                     (*change.drained ? "drain of " : "undrain of ") + describe(gpu),
                                     "that can't end with the reboot", "leave the option runtime out");
            claim("whether " + describe(gpu) + " is drained");
            put(of_gpus_, [uuid = gpu.uuid, drained = *change.drained](auto& node) {
                return node.set_drained(uuid, drained);
            });
        }
        return judge("policy, max-inst, prio-ratio, drained or revert");
    }

    void set_policy(const model::Gpu& gpu, model::Policy policy, model::Lasts lasts) {
        claim("the policy of " + describe(gpu));
        put(of_gpus_,
            [uuid = gpu.uuid, policy, lasts](auto& node) { return node.set_policy(uuid, policy, lasts); });
    }

    void set_max_inst(const model::Gpu& gpu, std::uint32_t n, model::Lasts lasts) {
        claim("max_inst of " + describe(gpu));
        put(of_gpus_, [uuid = gpu.uuid, n, lasts](auto& node) { return node.set_max_inst(uuid, n, lasts); });
    }

    void set_prio_ratio(const model::Gpu& gpu, std::uint32_t per_cent, model::Lasts lasts) {
        claim("prio_ratio of " + describe(gpu));
        put(of_gpus_, [uuid = gpu.uuid, per_cent, lasts](auto& node) {
            return node.set_prio_ratio(uuid, per_cent, lasts);
        });
    }

    Result<void> add_change(const QuotaChange& change) {
        const auto id = find(node_, change.instance, options_.by);
        if (!id) return tl::unexpected(id.error());
        const model::Instance& instance = *node_.find_instance(*id);
        if (change.revert) return add_revert(instance, change);
        const auto paused = paused_by(change);
        if (options_.persist && (change.paused || (paused && *paused)))
            return model::refuse(Refusal::Reason::invalid,
                                 (*paused ? "pausing " : "resuming ") + model::describe(instance),
                                 "it can't be kept for the next starts", "leave the option persist out");
        if (only_pauses(change)) return add_pause(instance, change.gpu, *paused);
        const auto uuid = find_gpu_of(node_, *id, change.gpu);
        if (!uuid) return tl::unexpected(uuid.error());
        const std::string of = of_quota(instance, *uuid);
        if (change.memory_limit) {
            claim("the memory" + of);
            put(of_quotas_,
                [id = *id, uuid = *uuid, limit = *change.memory_limit, in_use = in_use(*id, *uuid)](
                    auto& node) { return node.set_memory(id, uuid, limit, in_use); });
        }
        if (change.weight && *change.weight != 0) {
            claim("the weight" + of);
            put(of_quotas_, [id = *id, uuid = *uuid, n = *change.weight](auto& node) {
                return node.set_weight(id, uuid, n);
            });
        }
        if (change.percent) {
            claim("the weight" + of);
            put(of_quotas_, [id = *id, uuid = *uuid, n = *change.percent](auto& node) {
                return node.set_percent(id, uuid, n);
            });
        }
        if (change.high_priority) {
            claim("the priority" + of);
            put(of_quotas_, [id = *id, uuid = *uuid, high = *change.high_priority](auto& node) {
                return node.set_high_priority(id, uuid, high);
            });
        }
        if (paused) pause(instance, *uuid, *paused);
        if (auto judged = judge("memory-limit, weight, percentage, high-priority, paused or revert"); !judged)
            return judged;
        if (options_.persist && change.percent)
            return model::refuse(Refusal::Reason::invalid, std::to_string(*change.percent) + "%" + of,
                                 "a percentage can't be kept for the next starts",
                                 "use a weight in slices, or leave the option persist out");
        if (options_.persist)
            put(of_quotas_,
                [id = *id, uuid = *uuid,
                 figures = model::KeptFigures{change.memory_limit, change.weight, change.high_priority}](
                    auto& node) { return node.keep(id, uuid, figures); });
        return {};
    }

    /// What the change says of the pause; empty: nothing.
    static std::optional<bool> paused_by(const QuotaChange& change) {
        if (change.paused) return change.paused;
        if (change.weight) return *change.weight == 0;
        return change.percent ? std::optional(false) : std::nullopt;
    }

    static bool only_pauses(const QuotaChange& change) {
        const bool sets_weight = change.percent || (change.weight && *change.weight != 0);
        return paused_by(change) && !sets_weight && !change.memory_limit && !change.high_priority;
    }

    Result<void> add_pause(const model::Instance& instance, const std::string& gpu, bool paused) {
        const auto uuids = gpus_of(instance, gpu);
        if (!uuids) return tl::unexpected(uuids.error());
        for (const auto& uuid : *uuids) pause(instance, uuid, paused);
        return judge("paused");
    }

    void pause(const model::Instance& instance, const model::Uuid& uuid, bool paused) {
        claim("the pause" + of_quota(instance, uuid));
        put(of_quotas_,
            [id = instance.id, uuid, paused](auto& node) { return node.set_paused(id, uuid, paused); });
    }

    /// That one, or all of the instance's if none is named.
    [[nodiscard]] Result<std::vector<model::Uuid>> gpus_of(const model::Instance& instance,
                                                           const std::string& gpu) const {
        std::vector<model::Uuid> uuids;
        if (gpu.empty()) {
            for (const auto& quota : instance.quotas) uuids.push_back(quota.gpu);
            return uuids;
        }
        const auto uuid = find_gpu_of(node_, instance.id, gpu);
        if (!uuid) return tl::unexpected(uuid.error());
        uuids.push_back(*uuid);
        return uuids;
    }

    Result<void> add_revert(const model::Instance& instance, const QuotaChange& change) {
        const std::string what = "revert of " + model::describe(instance);
        if (change.memory_limit || change.weight || change.percent || change.high_priority || change.paused)
            return model::refuse(Refusal::Reason::invalid, what,
                                 "the change also sets what would be reverted",
                                 "leave revert out, or the other settings");
        if (options_.persist)
            return model::refuse(Refusal::Reason::invalid, what, "what is kept for its next starts stays",
                                 "leave the option persist out; cgpuctl forget drops what is kept");
        const auto uuids = gpus_of(instance, change.gpu);
        if (!uuids) return tl::unexpected(uuids.error());
        for (const auto& uuid : *uuids) {
            for (const char* setting : {"the memory", "the weight", "the priority"})
                claim(setting + of_quota(instance, uuid));
            put(of_quotas_, [id = instance.id, uuid, in_use = in_use(instance.id, uuid)](auto& node) {
                return node.revert_quota(id, uuid, in_use);
            });
        }
        return judge("revert");
    }

    [[nodiscard]] std::string of_quota(const model::Instance& instance, const model::Uuid& gpu) const {
        return " of " + model::describe(instance) + " on " + describe(*node_.find_gpu(gpu));
    }

    /// What a lower limit is held against.
    [[nodiscard]] model::Bytes in_use(const model::InstanceId& id, const model::Uuid& gpu) const {
        return model::Bytes(options_.force ? 0 : usage_.usage(id, gpu).memory_used);
    }

    /// Notes that the change that is being added sets this.
    void claim(const std::string& setting) {
        sets_something_ = true;
        const auto [earlier, is_new] = set_by_.emplace(setting, changes_);
        if (!is_new && !twice_) twice_.emplace(*earlier);
    }

    void put(std::vector<Step>& steps, model::Transition transition) {
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
    const NodeChanges::Configured& configured_;
    Options options_;
    std::size_t changes_ = 0;
    std::vector<Step> of_gpus_;
    std::vector<Step> of_quotas_;
    std::map<std::string, std::size_t> set_by_;  ///< settings, and the change that sets each
    std::optional<std::pair<std::string, std::size_t>> twice_;
    bool sets_something_ = false;
};

/// In cGPU's contract a weight switches the GPU to policy 2; here the administrator decides, and is informed.
void say_where_weight_is_idle(const model::Node& node, const model::Instance& instance,
                              const model::Quota& quota) {
    const auto& gpu = *node.find_gpu(quota.gpu);
    const auto policy = node.policy_in_force(gpu);
    if (quota.weight > 1 && !model::weight_counts(policy))
        log::info(log::about(instance), "{}: weight {} has no effect on GPU {} under policy {}",
                  model::describe(instance), quota.weight, gpu.index, model::to_string(policy));
}

void say_where_policy_is_idle(const model::Node& node, const model::Gpu& gpu) {
    const auto policy = node.policy_in_force(gpu);
    if (policy != gpu.settings.policy)
        log::info(log::about(gpu), "{}: it divides memory only, so policy {} stays in force", describe(gpu),
                  model::to_string(policy));
}

/// cgpu can't hold what the driver divides: a policy that was set later ends no pause, and makes it idle.
void say_where_pause_is_idle(const model::Node& node, const model::Gpu& gpu) {
    if (node.policy_in_force(gpu) != model::Policy::native) return;
    for (const auto& [instance, quota] : node.occupants_of(gpu.uuid))
        if (quota->paused)
            log::info(log::about(*instance),
                      "{}: it is paused, and computes on GPU {} all the same under policy native",
                      model::describe(*instance), gpu.index);
}

}  // namespace

Result<std::uint64_t> NodeChanges::apply(const std::vector<NodeChange>& changes, Options options) {
    if (changes.size() > kMost)
        return model::refuse(Refusal::Reason::invalid, "changes",
                             "there are " + std::to_string(changes.size()) + " of them",
                             std::to_string(kMost) + " at most at once");
    const auto done = carry_out(changes, options, [](std::size_t change, Refusal& refusal) {
        refusal.text.insert(0, numbered(change) + ": ");
    });
    if (!done) return tl::unexpected(done.error());
    return state_.node().generation();
}

Result<void> NodeChanges::make(const NodeChange& change, Options options) {
    return carry_out({&change, 1}, options, [](std::size_t, Refusal&) {});
}

Result<void> NodeChanges::carry_out(std::span<const NodeChange> changes, Options options,
                                    void (*name)(std::size_t change, Refusal& refusal)) {
    const auto refused = [name](std::size_t change, Refusal refusal) {
        name(change, refusal);
        return tl::unexpected(std::move(refusal));
    };
    const model::Node before = state_.node();
    Plan plan(before, usage_, configured_, options);
    for (std::size_t change = 0; change < changes.size(); ++change)
        if (auto added = plan.add(changes[change]); !added) return refused(change, added.error());
    const auto all = plan.transitions();
    const auto changed = state_.change(
        [&](model::Node& node) -> tl::expected<model::Change, Refusal> {
            const auto done = model::do_all(node, all);
            if (!done) return refused(plan.change_of(done.error().which), done.error().refusal);
            if (options.only_lowered_of)
                if (auto lowered = check_lowered(before, node, *options.only_lowered_of); !lowered)
                    return tl::unexpected(lowered.error());
            return *done;
        },
        options);
    if (!changed) return tl::unexpected(changed.error());
    if (*changed) tell(before);
    return {};
}

void NodeChanges::follow_configuration() {
    const model::Node before = state_.node();
    const auto changed = state_.change(
        [&](model::Node& node) -> tl::expected<model::Change, Refusal> {
            auto all = model::Change::unchanged;
            // An absent one has no index by which the configuration could name it.
            for (const auto& gpu : before.gpus())
                if (gpu.present && node.follow(gpu.uuid, configured_(gpu)) == model::Change::changed)
                    all = model::Change::changed;
            return all;
        },
        {});
    if (!changed)
        log::error("GPUs: {}", changed.error().text);
    else if (*changed)
        tell(before);
}

/// The only place that tells what a change of settings has changed, whichever call made it. The events are
/// made from the same comparison (NodeState).
void NodeChanges::tell(const model::Node& before) {
    for (const auto& gpu : state_.node().gpus()) {
        const auto* then = before.find_gpu(gpu.uuid);
        if (then == nullptr || then->settings.policy == gpu.settings.policy) continue;
        say_where_policy_is_idle(state_.node(), gpu);
        say_where_pause_is_idle(state_.node(), gpu);
    }
    const model::Node now = state_.node();
    model::for_each_difference(before.instances(), now.instances(),
                               [&](const model::Instance* then, const model::Instance* instance) {
                                   if (then == nullptr || instance == nullptr || *then == *instance) return;
                                   for (std::size_t which = 0; which < instance->quotas.size(); ++which)
                                       if (instance->quotas[which].weight != then->quotas[which].weight)
                                           say_where_weight_is_idle(now, *instance, instance->quotas[which]);
                                   links_.refresh(*instance);
                                   publisher_.instance_changed(instance->id);
                               });
    publisher_.gpus_changed();
}

}  // namespace cgpu::app
