#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "core/model/gpu.hpp"
#include "core/model/instance.hpp"
#include "core/model/node.hpp"
#include "core/model/refusal.hpp"
#include "daemon/app/ports/loop.hpp"

/// The interfaces of the service to the outside; each I/O room implements its own.
namespace cgpu::app {

template <class T>
using Result = tl::expected<T, model::Refusal>;

/// The result of a search for a process; empty: there is none.
using FoundProcess = std::function<void(const std::optional<model::Process>&)>;

/// Durable state: it is on disk before anyone is told.
class Store {
  public:
    virtual ~Store() = default;
    /// The refusal's text names the file and the remedy (a full disk, a read-only folder).
    virtual Result<void> save(const model::Node& node) = 0;
};

/// Publishes changes on the bus.
class Publisher {
  public:
    virtual ~Publisher() = default;
    /// Any of them, their settings or who is on them; once for each change.
    virtual void gpus_changed() = 0;
    /// The driver has reported an error of a GPU.
    virtual void xid_reported(const model::XidError& xid) = 0;
    /// The default memory in force, or where it comes from.
    virtual void default_memory_changed() = 0;
    virtual void instance_added(const model::InstanceId& id) = 0;
    virtual void instance_changed(const model::InstanceId& id) = 0;
    virtual void instance_removed(const model::InstanceId& id) = 0;
    /// A container without a limit has come, changed or gone.
    virtual void unmanaged_changed() = 0;
};

/// The sockets of the module: a folder per instance.
class Links {
  public:
    virtual ~Links() = default;
    /// Opens the instance's folder and socket, or takes over existing ones; returns the folder.
    virtual Result<std::string> open(const model::Instance& instance) = 0;
    /// Closes its connections and removes the folder.
    virtual void close(const model::InstanceId& id) = 0;
    /// Limits or modes changed: rewrite the orders of all its processes.
    virtual void refresh(const model::Instance& instance) = 0;
    /// Lets this user's processes reach the folder, to mount it. Refused (storage).
    virtual Result<void> let_in(const model::InstanceId& id, std::uint32_t user) = 0;
    /// Looks for the oldest of its living processes: one that has the socket mounted, or is connected
    /// without. `others` are the living first processes of other instances: they, and whatever shares their
    /// mounts, are not this one's. Calls back once, on the loop, unless the search is dropped before.
    [[nodiscard]] virtual WatchPtr find_member(const model::InstanceId& id,
                                               std::vector<model::Process> others,
                                               FoundProcess call) const = 0;
    /// Whether the process belongs to any instance.
    [[nodiscard]] virtual bool has_member(std::int32_t pid) const = 0;
    /// Whether no living process uses its socket, and none holds memory any more.
    [[nodiscard]] virtual bool idle(const model::InstanceId& id) const = 0;
};

/// Where a process stood at one moment, to compare with many instances.
class ProcessLook {
  public:
    virtual ~ProcessLook() = default;
    /// Whether it has this folder of the host mounted somewhere in its file system.
    [[nodiscard]] virtual bool sees(const std::filesystem::path& folder) const = 0;
    [[nodiscard]] virtual bool descends(const model::Process& ancestor) const = 0;
    /// Whether it is in this cgroup or below it; false for an empty one.
    [[nodiscard]] virtual bool is_in_cgroup(const std::string& cgroup) const = 0;
};

struct ProcessOwner {
    std::optional<std::uint32_t> user;
    std::string command;
};

/// What ends processes; cgpud sends no other.
enum class Signal {
    term,  ///< SIGTERM
    kill,  ///< SIGKILL
};

class Processes {
  public:
    virtual ~Processes() = default;
    /// Refused (not_found) if there is no such process now.
    virtual Result<model::Process> identify(std::int32_t pid) = 0;
    virtual bool alive(const model::Process& process) = 0;
    /// The effective user id. Empty: the process has ended.
    virtual std::optional<std::uint32_t> user_of(const model::Process& process) = 0;
    /// Its effective user id and its name (proc_pid_comm(5)), for people; empty: it has ended.
    virtual ProcessOwner owner_of(const model::Process& process) = 0;
    /// Zero: it has no visible parent.
    virtual std::int32_t parent_of(const model::Process& process) = 0;
    /// Calls back once, on the loop, when the process has ended (soon, if it has already).
    virtual WatchPtr on_exit(const model::Process& process, std::function<void()> call) = 0;
    /// Whether the process has this folder of the host mounted anywhere in its file system.
    virtual bool sees(const model::Process& process, const std::filesystem::path& folder) = 0;
    /// Looks for the oldest of all living processes that see the folder, a few at a time: there may be
    /// thousands. `others` are living processes that are known not to see it, nor does any that shares their
    /// mounts: their mounts aren't read. Calls back once, on the loop and after this has returned, unless the
    /// search is dropped before.
    virtual WatchPtr find_first_to_see(const std::filesystem::path& folder,
                                       std::vector<model::Process> others, FoundProcess call) = 0;
    virtual bool descends(const model::Process& process, const model::Process& ancestor) = 0;
    virtual std::unique_ptr<ProcessLook> look_at(const model::Process& process) = 0;
    /// The path of the cgroup that the process is in, down to the part that was made for a job or container
    /// of this id. Empty: there is none of its own.
    virtual std::string cgroup_made_for(const model::Process& process, std::string_view id) = 0;
    /// Stopped by a signal or a debugger.
    virtual bool stopped(const model::Process& process) = 0;
    /// Refused (unsupported) if cgpud may not; a process that has ended already is no error.
    virtual Result<void> signal(const model::Process& process, Signal signal) = 0;
    /// Whether cgpud may signal processes of other users.
    [[nodiscard]] virtual bool may_signal_others() const = 0;
    /// Whether it runs as this user, or in a user namespace, where a rootless container's processes have
    /// other ids. False: it is another user's, or has ended.
    virtual bool runs_for(const model::Process& process, std::uint32_t user) = 0;
};

/// The driver's figure for one process on one GPU.
struct DriverProcess {
    std::int32_t pid = 0;
    std::uint64_t bytes = 0;
};

/// What the driver shows of the memory of one GPU.
struct DriverFigures {
    std::vector<DriverProcess> processes;
    /// Bytes of the GPU that anything has, right before and right after the processes were listed. Empty: the
    /// driver didn't say.
    std::optional<std::uint64_t> used_before = std::nullopt;
    std::optional<std::uint64_t> used_after = std::nullopt;
};

/// The driver, through NVML. It can hang, so its answers come later, on the loop.
class Gpus {
  public:
    virtual ~Gpus() = default;
    /// Refused: the driver isn't there, or doesn't answer.
    virtual void list(std::function<void(Result<model::SeenGpus>)> call) = 0;
    virtual void processes(const model::Uuid& gpu, std::function<void(Result<DriverFigures>)> call) = 0;
};

}  // namespace cgpu::app
