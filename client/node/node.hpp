#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/node/values/change.hpp"
#include "client/node/values/client_error.hpp"
#include "client/node/values/configuration.hpp"
#include "client/node/values/examination.hpp"
#include "client/node/values/snapshot.hpp"
#include "client/node/watch.hpp"
#include "core/view/limits.hpp"

namespace cgpu::client {

/// A part that is held for an instance to come, instead of being an instance's at once.
struct HeldPart {
    std::string token;  ///< by which it is taken over; random, 32 hexadecimal digits
    std::uint64_t seconds = 0;
};

/// What CreateInstance is asked for.
struct NewInstance {
    std::string id;     ///< the container's
    std::string name;   ///< for people, as the next
    std::string image;  ///< what the container was made from; empty: not known, or it isn't a container
    std::map<std::string, std::string> variables;  ///< the request: the container's environment
    bool dry_run = false;
    /// As whom a job of root's will run. Empty: it is a container, or it runs as the caller.
    std::optional<std::uint32_t> user = std::nullopt;
    std::optional<HeldPart> held = std::nullopt;  ///< empty: an instance is to run
};

/// A new instance, as CreateInstance returns it.
struct Created {
    /// Empty: the request is for the node's default memory and that is 0, so there is no instance and no
    /// limit.
    std::vector<Quota> quotas;
    std::string link_folder;            ///< the folder to mount at /run/cgpu/link
    std::vector<std::string> warnings;  ///< sentences for the user
};

/// A request that waits for its part of a GPU.
struct QueuePlace {
    std::uint32_t position = 0;  ///< from 1; 0: it is an instance already
    std::string waits_for;       ///< a sentence without a full stop
};

/// A scope of systemd (systemd.scope(5)).
struct Scope {
    std::string unit;   ///< its name, with `.scope`
    std::string slice;  ///< the slice that it is made in
    std::string description;
    bool of_user = false;  ///< made by the caller's own systemd (systemd --user), not by the system's
};

/// A version of the module to move the node to.
struct Upgrade {
    bool hot = true;  ///< running processes change; else only without instances
    std::string version;
    bool drain = false;                      ///< cold: wait for instances to end, and admit none
    std::optional<std::uint32_t> timeout_s;  ///< empty: the daemon's default
    bool dry_run = false;
};

/// A mode to switch the node to.
struct ModeSwitch {
    std::string mode;    ///< or `configured`
    bool drain = false;  ///< wait for instances that block the switch to end, and admit none
    std::optional<std::uint32_t> timeout_s;  ///< empty: the daemon's default
    bool dry_run = false;
    bool runtime = false;  ///< until the machine is started again
};

/// The node as clients see it. GPUs are named as find_gpu() takes them, instances by id, unique prefix of an
/// id, or name. `dry_run`: everything is checked and nothing changed.
class Node {
  public:
    virtual ~Node() = default;

    /// Everything, with the usage of all instances: for those who show it. What a start, an end or a change
    /// of one instance costs must not grow with the number of the others.
    virtual Result<Snapshot> read() = 0;
    /// The GPUs alone, without figures of usage.
    virtual Result<std::vector<Gpu>> read_gpus() = 0;
    /// Whether cgpud is running. Unlike every other call, this one doesn't start it.
    virtual Result<ServiceState> service() = 0;
    /// The limits of a user (a name or a user id; empty: the caller's; `containers`: of those of root's
    /// engine that nobody owns), and what is in use.
    virtual Result<view::Limits> limits(const std::string& user) = 0;
    /// What cgpud and the driver say for a check of the node.
    virtual Result<Examination> examine() = 0;
    /// The UUID.
    virtual Result<std::string> find_gpu(const std::string& gpu) = 0;
    /// The id.
    virtual Result<std::string> find_instance(const std::string& instance) = 0;

    /// What is in force, and where it comes from.
    virtual Result<std::vector<ConfigurationValue>> configuration() = 0;
    /// In bytes; empty: the configuration's holds again.
    virtual Result<void> set_default_memory(std::optional<std::uint64_t> bytes, const Making& how) = 0;
    /// All of them or none; the order doesn't matter. Returns the node's generation after it. A refusal of
    /// one begins with `change N: `, from 1.
    virtual Result<std::uint64_t> apply(const std::vector<Change>& changes, const Making& how) = 0;
    /// The node as JSON.
    virtual Result<std::string> describe() = 0;
    /// The file of the history (core/history/ring.hpp). Refused: cgpud keeps none.
    virtual Result<std::vector<std::byte>> read_history() = 0;
    /// The file of the sums of days (core/history/day_sums.hpp), of the same form. Refused: cgpud keeps none.
    virtual Result<std::vector<std::byte>> read_days() = 0;
    /// Begins a trace of the GPU. Returns a socket with its records (core/trace), which the caller closes. To
    /// end it before the seconds have passed, shut down the socket's sending side.
    virtual Result<int> start_trace(const std::string& gpu, std::uint32_t seconds) = 0;
    /// `owner` (a user id) may be left out if settings are kept for the instances of one user only.
    virtual Result<void> forget(const std::string& name, std::optional<std::uint32_t> owner,
                                const Making& how) = 0;

    /// With CGPU_WAIT it returns when the instance has its part, or waits no longer.
    virtual Result<Created> create_instance(const NewInstance& wanted) = 0;
    /// Of a request that waits, by its id. Error (not_found, failed): none of this id does.
    virtual Result<QueuePlace> queue_place(const std::string& id) = 0;
    /// A container that gets these GPUs (by any of their names; none: all) and asks for no part of one. True:
    /// it books them whole. Error (refused): the node's configuration refuses it, or somebody is on them.
    virtual Result<bool> admit_unmanaged(const std::string& id, const std::string& name,
                                         const std::vector<std::string>& gpus) = 0;
    virtual Result<void> attach(const std::string& id, std::uint32_t pid) = 0;
    virtual Result<void> release_instance(const std::string& id) = 0;
    /// So many seconds more for an instance with a time limit, also for one that ended when it was over.
    virtual Result<void> extend(const std::string& instance, std::uint64_t seconds, const Making& how) = 0;
    /// Another name for a job or a reservation, by its id.
    virtual Result<void> rename(const std::string& id, const std::string& name, const Making& how) = 0;
    /// cgpud sends the instance's processes SIGTERM, and after so many seconds SIGKILL. Returns the host pids
    /// of those that get it. Error: none did; `Unsupported`: cgpud may not on this node.
    virtual Result<std::vector<std::uint32_t>> stop(const std::string& id, std::uint32_t grace,
                                                    bool dry_run) = 0;
    /// Moves this process into a new scope. It asks systemd, not cgpud.
    virtual Result<void> enter_scope(const Scope& scope) = 0;

    /// The job's path on the bus; "/" for a dry run.
    virtual Result<std::string> begin_upgrade(const Upgrade& wanted) = 0;
    /// The same.
    virtual Result<std::string> begin_mode(const ModeSwitch& wanted) = 0;
    virtual Result<Job> read_job(const std::string& path) = 0;
    virtual Result<std::unique_ptr<JobWatch>> watch_job(const std::string& path) = 0;
    /// Wakes who waits for the end of instances.
    virtual Result<std::unique_ptr<Watch>> watch_instances() = 0;
    virtual Result<void> cancel_job(const std::string& path) = 0;
};

}  // namespace cgpu::client
