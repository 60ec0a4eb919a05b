#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/admission/defaults.hpp"
#include "core/model/node.hpp"
#include "core/request/unknown_name.hpp"
#include "daemon/app/instances/xids.hpp"
#include "daemon/app/ports/admission_gate.hpp"
#include "daemon/app/ports/lookup.hpp"
#include "daemon/app/ports/ports.hpp"
#include "daemon/app/ports/usage.hpp"

namespace cgpu::app {

/// What CreateInstance answers. Without quotas: it asks for the node's default memory and that is 0, so it
/// isn't managed (S4), and there is no instance.
struct Created {
    model::Instance instance;
    std::string link_folder;
    std::vector<std::string> warnings;
};

/// Who calls, by the bus's word.
struct Caller {
    std::uint32_t user = 0;  ///< effective user id
    model::Process process;
    /// It may touch its own instances and processes only.
    bool own_only = false;
};

/// What every change takes along.
struct Options {
    bool dry_run = false;  ///< check everything, change nothing
    bool force = false;    ///< set_memory: below what is in use, too
    /// set_weight, set_high_priority, set_memory: also for the next starts of the instance's name.
    bool persist = false;
};

/// What the configuration says of new instances and new GPUs.
struct Settings {
    admission::Defaults defaults;
    std::function<model::GpuSettings(const model::SeenGpu&)>
        settings_for;  ///< of a GPU seen for the first time
    request::UnknownNames unknown_variables = request::UnknownNames::refuse;
};

/// Owns the node's state. Every change is tried on a copy of it, saved, taken over, carried out (links,
/// gates) and then published, in this order: what was told to anyone is on disk. One thread: the loop's.
class Service {
  public:
    struct Outside {
        Loop& loop;
        Store& store;
        Publisher& publisher;
        Links& links;
        Processes& processes;
        Compute& compute;
        UsageSource& usage;
        AdmissionGate& admission;
        std::function<std::uint64_t()> wall_clock;  ///< seconds since 1970
    };

    Service(model::Node node, Settings settings, const Outside& outside);

    /// Takes up again what the saved state holds: opens the links of the instances, watches their processes,
    /// drops those that have ended meanwhile. Once, after start.
    void adopt();
    /// A configuration read anew; for instances and GPUs that come from now on.
    void set_settings(Settings settings) { settings_ = std::move(settings); }

    [[nodiscard]] const model::Node& node() const { return node_; }

    Result<Created> create_instance(std::string_view id, std::string_view name,
                                    const std::map<std::string, std::string>& variables, const Caller& caller,
                                    Options options);
    /// Whether the caller made this instance; also where there is no such one, because then there is nothing
    /// of others to touch.
    [[nodiscard]] bool is_own(std::string_view id, const Caller& caller) const;
    /// Whether the process runs with the caller's user id.
    [[nodiscard]] bool is_own(const model::Process& process, const Caller& caller) const;
    /// Whether the instance is the caller's own, or there is none, and no process has been attached: nothing
    /// would go on without a limit if it were released.
    [[nodiscard]] bool may_withdraw(std::string_view id, const Caller& caller) const;
    /// Refused (not_permitted) where the process is another user's than the caller's, unless that is root;
    /// and by `own_only`.
    Result<void> attach(std::string_view id, const model::Process& process, const Caller& caller,
                        Options options);
    /// Refused (not_permitted) by `own_only`.
    Result<void> release_instance(std::string_view id, const Caller& caller, Options options);

    Result<void> set_policy(const model::Uuid& gpu, std::string_view policy, Options options);
    Result<void> set_max_inst(const model::Uuid& gpu, std::uint32_t max_inst, Options options);
    Result<void> set_prio_ratio(const model::Uuid& gpu, std::uint32_t per_cent, Options options);
    /// `gpu`: by index or UUID; empty where the instance has one GPU only.
    Result<void> set_weight(const model::InstanceId& id, std::string_view gpu, std::uint32_t weight,
                            Options options);
    Result<void> set_high_priority(const model::InstanceId& id, std::string_view gpu, bool high,
                                   Options options);
    Result<void> set_memory(const model::InstanceId& id, std::string_view gpu, std::uint64_t bytes,
                            Options options);
    /// Drops what `persist` has kept for the name; see Node::forget().
    Result<void> forget(std::string_view name, std::optional<std::uint32_t> owner, Options options);

    /// The process that has this pid now. Whoever answers a call later than it came asks at once: the pid may
    /// be another's by then.
    [[nodiscard]] Result<model::Process> identify(std::int32_t pid) const {
        return outside_.processes.identify(pid);
    }
    [[nodiscard]] Result<model::Uuid> find_gpu(std::string_view gpu) const {
        return app::find_gpu(node_, gpu);
    }
    [[nodiscard]] Result<model::InstanceId> find_instance(std::string_view instance) const {
        return app::find_instance(node_, instance);
    }

    [[nodiscard]] std::map<model::Uuid, InstanceUsage> usage(const model::InstanceId& id) const;
    [[nodiscard]] GpuUsage usage(const model::Uuid& gpu) const;

    /// What the driver shows now.
    void gpus_seen(const model::SeenGpus& seen);
    /// The driver has no GPU to show any more: nothing is put on any until it has.
    void driver_lost(const std::string& why);
    /// The link's word: no process uses this instance's socket any more.
    void link_idle(const model::InstanceId& id);

  private:
    using Change = model::Change;
    /// Tries a transition on a copy and saves it. True: the node is another one now.
    Result<bool> change(const std::function<tl::expected<Change, model::Refusal>(model::Node&)>& transition,
                        Options options);
    /// A change of an instance's quota and, with `persist`, of what is kept for its next starts: both or
    /// neither. True: the node is another one now.
    Result<bool> change_quota(
        const model::InstanceId& id, const model::Uuid& gpu, const model::KeptFigures& figures,
        const std::function<tl::expected<Change, model::Refusal>(model::Node&)>& transition, Options options);
    [[nodiscard]] bool may_attach(const model::Process& process, const Caller& caller) const;
    void let_in(const model::InstanceId& id, std::uint32_t user);
    void watch_end(const model::InstanceId& id, const model::Process& process);
    void process_ended(const model::InstanceId& id);
    void go_on_with_another(const model::InstanceId& id);
    void go_on_with(const model::InstanceId& id, const model::Process& process);
    void end_if_idle(const model::InstanceId& id);
    /// Removes it; where the disk refuses, tries again until it doesn't.
    void end(const model::InstanceId& ended);
    /// Whether the process of some instance has just ended, so that what it has is free in a moment.
    [[nodiscard]] bool someone_is_ending() const;
    /// The refusal of a new instance, as try_again where what stands in the way may be that one.
    [[nodiscard]] model::Refusal worth_another_try(model::Refusal refusal) const;
    void gpus_changed(Result<bool> changed, const std::vector<model::Gpu>& before);
    void gpus_of_changed(const model::Instance& instance);
    void xid_reported(const model::XidError& xid);

    model::Node node_;
    Settings settings_;
    Outside outside_;
    /// What ends an instance: the process it lives with or, before Attach, the one that asked for it.
    std::map<model::InstanceId, WatchPtr> ends_;
    /// Instances whose process has ended, while others of their processes, or memory, may be left.
    std::map<model::InstanceId, Nanos> ended_;        // since when
    std::map<model::InstanceId, WatchPtr> searches_;  ///< for processes that are left of one
    std::map<model::InstanceId, WatchPtr> retries_;
    XidCounts xids_;
};

}  // namespace cgpu::app
