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

/// What the service needs of the outside, as plain nouns; each room of the outside implements its own.
namespace cgpu::app {

template <class T>
using Result = tl::expected<T, model::Refusal>;

/// What a search for a process came to; nothing: there is none.
using FoundProcess = std::function<void(const std::optional<model::Process>&)>;

/// Durable state. On disk before anyone is told.
class Store {
  public:
    virtual ~Store() = default;
    /// The refusal's text says which file and what to do (a full disk, a read-only folder).
    virtual Result<void> save(const model::Node& node) = 0;
};

/// Tells the bus what changed.
class Publisher {
  public:
    virtual ~Publisher() = default;
    virtual void gpu_changed(const model::Uuid& gpu) = 0;
    /// Its driver has reported an error of it.
    virtual void xid_reported(const model::XidError& xid) = 0;
    virtual void instance_added(const model::InstanceId& id) = 0;
    virtual void instance_changed(const model::InstanceId& id) = 0;
    virtual void instance_removed(const model::InstanceId& id) = 0;
};

/// The sockets of the module: a folder per instance.
class Links {
  public:
    virtual ~Links() = default;
    /// Opens (or takes up again) the instance's folder and socket; returns the folder.
    virtual Result<std::string> open(const model::Instance& instance) = 0;
    /// Closes its connections and removes the folder.
    virtual void close(const model::InstanceId& id) = 0;
    /// Limits or modes changed: rewrite the orders of all its processes.
    virtual void refresh(const model::Instance& instance) = 0;
    /// This user's processes may reach the folder, to mount it. Refused (storage).
    virtual Result<void> let_in(const model::InstanceId& id, std::uint32_t user) = 0;
    /// Looks for the one of its living processes that began first: it has the socket mounted, or is connected
    /// without. Calls back once, on the loop, unless the search is dropped before.
    [[nodiscard]] virtual WatchPtr find_member(const model::InstanceId& id, FoundProcess call) const = 0;
    /// No living process uses its socket, and none holds memory any more.
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

class Processes {
  public:
    virtual ~Processes() = default;
    /// Refused (not_found) where there is no such process now.
    virtual Result<model::Process> identify(std::int32_t pid) = 0;
    virtual bool alive(const model::Process& process) = 0;
    /// The effective user id. Nothing: it has ended.
    virtual std::optional<std::uint32_t> user_of(const model::Process& process) = 0;
    /// Zero: it has none that can be seen.
    virtual std::int32_t parent_of(const model::Process& process) = 0;
    /// Calls back once, on the loop, when it has ended (soon, where it has already).
    virtual WatchPtr on_exit(const model::Process& process, std::function<void()> call) = 0;
    /// Whether it has this folder of the host mounted somewhere in its file system.
    virtual bool sees(const model::Process& process, const std::filesystem::path& folder) = 0;
    /// Looks for the one that began first of all living processes that see the folder, some at a time: there
    /// may be thousands. Calls back once, on the loop and later than this returns, unless the search is
    /// dropped before.
    virtual WatchPtr find_first_to_see(const std::filesystem::path& folder, FoundProcess call) = 0;
    virtual bool descends(const model::Process& process, const model::Process& ancestor) = 0;
    virtual std::unique_ptr<ProcessLook> look_at(const model::Process& process) = 0;
    /// The path of the cgroup that the process is in, as far down as it was made for a job or container of
    /// this id. Empty: there is none of its own.
    virtual std::string cgroup_made_for(const model::Process& process, std::string_view id) = 0;
    /// By a signal or a debugger.
    virtual bool stopped(const model::Process& process) = 0;
    /// SIGKILL. Refused (unsupported) where cgpud may not; one that has ended already is no error.
    virtual Result<void> kill(const model::Process& process) = 0;
};

/// The driver's figure for one process on one GPU.
struct DriverProcess {
    std::int32_t pid = 0;
    std::uint64_t bytes = 0;
};

/// The driver, by NVML. It can hang, so its answers come later, on the loop.
class Gpus {
  public:
    virtual ~Gpus() = default;
    /// Refused: the driver isn't there, or doesn't answer.
    virtual void list(std::function<void(Result<model::SeenGpus>)> call) = 0;
    virtual void processes(const model::Uuid& gpu,
                           std::function<void(Result<std::vector<DriverProcess>>)> call) = 0;
};

}  // namespace cgpu::app
