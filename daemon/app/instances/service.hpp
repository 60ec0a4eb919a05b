#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/admission/defaults.hpp"
#include "core/admission/unmanaged.hpp"
#include "core/ends/course.hpp"
#include "core/limits/rules.hpp"
#include "core/model/node.hpp"
#include "core/model/transitions.hpp"
#include "core/request/profile.hpp"
#include "core/request/unknown_name.hpp"
#include "daemon/app/ends/ends.hpp"
#include "daemon/app/events/refused_admissions.hpp"
#include "daemon/app/events/refused_calls.hpp"
#include "daemon/app/instances/base/ownership.hpp"
#include "daemon/app/instances/base/process_facts.hpp"
#include "daemon/app/instances/gpu_register.hpp"
#include "daemon/app/instances/instance_lifetimes.hpp"
#include "daemon/app/instances/node_changes.hpp"
#include "daemon/app/instances/node_state.hpp"
#include "daemon/app/instances/options.hpp"
#include "daemon/app/limits/owner_limits.hpp"
#include "daemon/app/looks/second_look.hpp"
#include "daemon/app/ports/admission_gate.hpp"
#include "daemon/app/ports/lookup.hpp"
#include "daemon/app/ports/modes_of_gpus.hpp"
#include "daemon/app/ports/ports.hpp"
#include "daemon/app/ports/usage.hpp"
#include "daemon/app/queue/admission_queue.hpp"
#include "daemon/app/stops/stops.hpp"

namespace cgpu::app {

/// The result of CreateInstance. Without quotas the request was for the node's default memory and that is 0:
/// by cGPU's contract the container isn't managed, and there is no instance.
struct Created {
    model::Instance instance;
    std::string link_folder;
    std::vector<std::string> warnings;
};

/// The configuration of new instances and new GPUs.
struct Settings {
    admission::Defaults defaults;
    std::function<model::GpuSettings(const model::SeenGpu&)>
        settings_for;  ///< of a GPU seen for the first time
    request::UnknownNames unknown_variables = request::UnknownNames::refuse;
    admission::Unmanaged unmanaged = admission::Unmanaged::allow;
    request::Profiles profiles = {};
    std::optional<std::uint64_t> time = std::nullopt;  ///< of those that ask for none, in seconds
    std::optional<std::uint64_t> idle = std::nullopt;  ///< the same without work
    ends::Settings ends = {};
};

/// In bytes. Names are published, kept and shown for as long as an instance lives; no engine takes longer
/// ones.
constexpr std::size_t kLongestName = 1024;

/// Refused: invalid.
[[nodiscard]] Result<void> check_name(const model::InstanceId& id, std::string_view name);

/// How long a part is held for an instance to come, and by which token that takes it over.
struct Hold {
    std::string token;
    std::uint64_t seconds = 0;
};

/// A part that nobody takes over is free again after a day.
constexpr std::uint64_t kLongestHold = 86400;

/// A call of CreateInstance.
struct Asked {
    std::string id;
    std::string name;
    std::map<std::string, std::string> variables;
    Caller caller;
    Options options = {};
    Origin origin = {};
    std::optional<Hold> hold = std::nullopt;  ///< it asks for a reservation; empty: for an instance
};

/// Owns the node's state. Every change is tried on a copy, saved, made current, carried out (links, gates)
/// and then published, in this order: nothing is told to anyone before it is on disk. Used by the event-loop
/// thread only.
class Service final : public ModesOfGpus {
  public:
    struct Outside {
        Loop& loop;
        Store& store;
        Publisher& publisher;
        Links& links;
        Processes& processes;
        NodeFollowers followers;
        UsageSource& usage;
        AdmissionGate& admission;
        Events& events;
        std::function<std::uint64_t()> wall_clock;  ///< seconds since 1970
        std::string boot_id{};
        const SecondLook* second_look = nullptr;  ///< null: what is refused is refused at once
        OwnerLimits* limits = nullptr;            ///< null: an owner may have what there is
        /// A request was refused for good: by which name, and whose.
        std::function<void(std::string_view, const model::Owner&)> start_refused = {};
        QueueStore* queue = nullptr;  ///< null: no request waits
        /// What owners had lately, if that decides who comes first; null: it doesn't.
        std::function<const queue::RecentUse*()> recent_use = {};
    };

    Service(model::Node node, Settings settings, const Outside& outside);

    /// Takes over what the saved state has: opens the links of the instances, watches their processes, drops
    /// those that have ended meanwhile. Call once, after start.
    void adopt();
    /// Takes over requests that waited under the cgpud before. Call once, after adopt().
    void adopt_queue(std::vector<QueuedRequest> saved);
    /// Adds instances that live and that the node doesn't have, as they were, and takes them over. Returns
    /// what doesn't fit.
    std::vector<model::Node::Untaken> take_up(const std::vector<model::InstanceRecord>& records) {
        return lifetimes_.take_up(records);
    }
    /// A reloaded configuration; it applies to instances and GPUs that come from now on.
    void set_settings(Settings settings);

    /// The memory of instances that request none by a number: what was set for the node, else the
    /// configuration's.
    [[nodiscard]] model::Bytes default_memory() const {
        return node().default_memory().value_or(settings_.defaults.default_memory);
    }
    /// For new instances. Empty: the configuration's holds again.
    Result<void> set_default_memory(std::optional<model::Bytes> bytes, Options options);

    [[nodiscard]] const model::Node& node() const { return state_.node(); }
    /// The loop's clock, on which time limits end, and requests wait.
    [[nodiscard]] Nanos now() const { return outside_.loop.now(); }

    /// Finds out what the limits need to know of the owner; then create_instance() can judge a request of
    /// theirs.
    void prepare(const model::Owner& owner, std::function<void(const Result<void>&)> done);
    /// See OwnerLimits; empty: those of the caller. Refused (not_permitted): other users than root may ask
    /// for their own only.
    void describe_limits(const std::string& word, std::uint32_t caller,
                         std::function<void(const Result<view::Limits>&)> done);
    /// Whose the instance will be; with a reservation it is that one's owner.
    [[nodiscard]] model::Owner owner_of(const Asked& asked) const;
    Result<Created> create_instance(const Asked& asked);
    /// Whether this very request waits already: its caller asks once more.
    [[nodiscard]] bool waits(const Asked& asked) const;
    /// What comes before create_instance(): prepare() and, where the request waits (CGPU_WAIT), its turn.
    /// Calls back, at once or later; refused: why there will be no instance, of which the event is made.
    void before_creation(const Asked& asked, AdmissionQueue::Done done);
    /// Null: no request waits on this node.
    [[nodiscard]] const AdmissionQueue* queue() const { return queue_ ? &*queue_ : nullptr; }
    /// What a request that waits asks for: `4GiB and 25% of the compute`.
    [[nodiscard]] std::string asked_for(const QueuedRequest& request) const;
    /// Adds the instance, whose quotas have been granted, with its link; it ends with the caller's process
    /// unless another one is attached before.
    Result<Created> put_in(model::Instance wanted, std::vector<std::string> warnings, const Caller& caller,
                           Options options);
    /// The refusal of a new instance, changed to try_again if the resources may be held by an instance that
    /// is just ending.
    [[nodiscard]] model::Refusal worth_another_try(model::Refusal refusal) const;
    /// Makes the event of a new instance, or a container without a limit, that is refused, and counts it for
    /// the owner whose it would have been; neither if it is tried again after a second look.
    void admission_refused(std::string_view id, std::string_view name, const Caller& caller,
                           const model::Owner& owner, const model::Refusal& refusal);
    /// Makes the event of another call that is refused.
    void call_refused(const RefusedCall& call) { refused_calls_.happened(call); }
    /// What unmanaged containers hold; it isn't free for instances.
    void set_held_unmanaged(std::map<model::Uuid, model::Bytes> held) {
        state_.set_held_unmanaged(std::move(held));
    }
    /// See ownership.hpp.
    [[nodiscard]] bool is_own(std::string_view id, const Caller& caller) const {
        return app::is_own(node(), id, caller);
    }
    [[nodiscard]] bool is_own(const model::Process& process, const Caller& caller) const {
        return app::is_own(outside_.processes, process, caller);
    }
    [[nodiscard]] bool may_withdraw(std::string_view id, const Caller& caller) const {
        return app::may_withdraw(node(), id, caller) && may_unqueue(id, caller);
    }
    /// Refused (not_permitted) if the process belongs to another user than the caller, unless the caller is
    /// root; and by `own_only`.
    Result<void> attach(std::string_view id, const model::Process& process, const Caller& caller,
                        Options options);
    /// Refused (not_permitted) by `own_only`.
    Result<void> release_instance(std::string_view id, const Caller& caller, Options options);

    /// Drops what `persist` has kept for the name; see Node::forget().
    Result<void> forget(std::string_view name, std::optional<std::uint32_t> owner, Options options);

    [[nodiscard]] bool are_as_configured() const override;
    [[nodiscard]] std::vector<model::InstanceId> in_the_way(
        std::optional<model::Mode> switched) const override;
    Result<void> take_configured() override;

    /// Changes of what GPUs and instances have: every one, single or several.
    [[nodiscard]] NodeChanges& changes() { return changes_; }
    /// Ends of instances by signals.
    [[nodiscard]] Stops& stops() { return stops_; }
    /// The time limits of instances, and when they end by them.
    [[nodiscard]] Ends& ends() { return ends_; }
    /// What a word means: an instance, or one whose time was over and that may be started again. Refused: as
    /// find_instance().
    [[nodiscard]] Result<model::InstanceId> find_timed(std::string_view word, const Naming& naming) const;
    /// Whose that one is.
    [[nodiscard]] model::Owner owner_of_timed(const model::InstanceId& id) const;
    /// Finds out what the limits need to know of the owner; then extend() can judge it.
    void prepare_extend(const model::InstanceId& id, std::function<void(const Result<void>&)> done);
    /// So many seconds more. Refused by `only_lowered_of`: another user's, and more than the limits allow.
    Result<void> extend(const model::InstanceId& id, std::uint64_t seconds, Options options);
    /// Refused: unsupported, it is a container; by `only_lowered_of`, another user's.
    Result<void> rename(const model::InstanceId& id, const std::string& name, const Options& options);
    /// Refused (changed) by the option if_generation.
    Result<void> check(const Options& options);

    /// The process that has this pid now. A caller that answers later must ask at once: the pid may be
    /// another process's by then.
    [[nodiscard]] Result<model::Process> identify(std::int32_t pid) const {
        return outside_.processes.identify(pid);
    }
    [[nodiscard]] const request::Profiles& profiles() const { return settings_.profiles; }
    [[nodiscard]] Result<model::Uuid> find_gpu(std::string_view gpu) const {
        return app::find_gpu(node(), gpu);
    }
    /// Also of requests that wait.
    [[nodiscard]] Result<model::InstanceId> find_instance(std::string_view instance,
                                                          const Naming& naming) const;

    [[nodiscard]] UsageOnGpus usage(const model::InstanceId& id) const;
    [[nodiscard]] GpuUsage usage(const model::Uuid& gpu) const;
    [[nodiscard]] NodeUsage usage() const;
    /// The processes that this usage of the instance is of and that are there still, with their users and
    /// commands.
    [[nodiscard]] std::vector<view::Process> processes_of(const model::InstanceId& id,
                                                          const UsageOnGpus& usage);

    /// The GPUs that the driver shows now.
    void gpus_seen(model::SeenGpus seen);
    /// The driver shows no GPU any more: no instance is put on any until it does.
    void driver_lost(const std::string& why) { gpus_.driver_lost(why); }
    /// Called by the link: no process uses this instance's socket any more.
    void link_idle(const model::InstanceId& id) { lifetimes_.link_idle(id); }

  private:
    Result<Created> try_to_create(const Asked& asked);
    Result<Created> take_over(const model::InstanceId& id, const request::Request& request,
                              const Asked& asked);
    [[nodiscard]] Result<void> check_hold(const Asked& asked, const limits::Allowance* allowance) const;
    void hold_for_another(model::Instance& wanted, const Hold& hold) const;
    [[nodiscard]] model::TimeLimit limit_of(std::uint64_t seconds) const;
    [[nodiscard]] Result<void> check_caller(const Caller& caller) const;
    /// Carries out the change that brings the instance, and all that comes with it.
    Result<Created> bring_in(model::Instance wanted, const model::Transition& change,
                             std::vector<std::string> warnings, const Caller& caller, Options options);
    void drop_old_reservations();
    [[nodiscard]] Result<std::optional<model::TimeLimit>> time_of_new(
        const model::InstanceId& id, const std::string& name, const request::Request& request,
        const limits::Allowance* allowance) const;
    [[nodiscard]] Result<std::optional<model::IdleLimit>> idle_of_new(
        const model::InstanceId& id, const std::string& name, const request::Request& request,
        const limits::Allowance* allowance) const;
    [[nodiscard]] Result<std::optional<limits::Allowance>> allowance_of(const model::Owner& owner) const;
    [[nodiscard]] admission::Defaults defaults_now() const;
    void wait_for_turn(const Asked& asked, AdmissionQueue::Done done);
    Result<admission::Grant> grant_for(const model::InstanceId& id, const queue::Waiting& waiting,
                                       const admission::Defaults& defaults) const;
    Result<void> complete(request::Request& request, const model::Instance& instance) const;
    [[nodiscard]] queue::Waiting waiting_of(const Asked& asked, const request::Request& request,
                                            const model::Owner& owner,
                                            const std::optional<model::TimeLimit>& time) const;
    [[nodiscard]] AdmissionQueue::Outside queue_outside(QueueStore& store);
    [[nodiscard]] NodeFollowers followers();
    [[nodiscard]] bool may_unqueue(std::string_view id, const Caller& caller) const;
    void end_of_boot();
    void let_in(const model::InstanceId& id, std::uint32_t user);
    [[nodiscard]] GpuUsage without_instances(const model::Uuid& gpu) const;

    Settings settings_;
    Outside outside_;
    std::optional<AdmissionQueue> queue_;
    Stops stops_;
    Ends ends_;  ///< before the state, whose changes it follows
    NodeState state_;
    GpuRegister gpus_;
    NodeChanges changes_;
    InstanceLifetimes lifetimes_;
    ComingAndGoing admitted_;
    RefusedAdmissions refused_;
    RefusedCalls refused_calls_;
    RepeatedByUser warned_;  ///< of variables that nobody knows, if they are no reason to refuse
    std::map<model::Uuid, MemoryAtLook> looks_;
    ProcessFacts facts_;
};

}  // namespace cgpu::app
