#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "core/model/instance.hpp"
#include "daemon/app/ports/loop.hpp"
#include "daemon/app/ports/ports.hpp"
#include "daemon/app/ports/usage.hpp"

namespace cgpu::app {

/// How an instance is stopped.
struct StopHow {
    Nanos grace = 0;  ///< from SIGTERM to SIGKILL
    /// Only processes that run for the instance's verified owner are signalled. Who may stop what is their
    /// own must not reach others by it: set-uid programs of the job run as somebody else.
    bool only_owners = true;
    bool dry_run = false;
};

/// Ends the processes of instances: the first one of each, and those of it that use GPUs. They get SIGTERM,
/// and after the grace SIGKILL, until the instance is gone.
class Stops {
  public:
    static constexpr std::uint32_t kLongestGrace = 86400;  ///< seconds
    /// What doesn't end by SIGKILL within this time waits in the kernel.
    static constexpr Nanos kKillingTakes = 30 * kSecond;

    struct Outside {
        Loop& loop;
        Processes& processes;
        const UsageSource& usage;
        /// Null: it is gone.
        std::function<const model::Instance*(const model::InstanceId&)> find;
    };

    explicit Stops(Outside outside) : outside_(std::move(outside)) {}

    /// Refused (unsupported): cgpud may not signal other users' processes.
    [[nodiscard]] Result<void> possible(const model::Instance& instance) const;
    /// Returns the host pids of those that got SIGTERM. Refused (unsupported, as above; busy: no process of
    /// it is known; not_permitted: one isn't the owner's): none of them was signalled. If it is being stopped
    /// already, the earlier SIGKILL counts.
    Result<std::vector<std::uint32_t>> stop(const model::InstanceId& id, const StopHow& how);
    /// cgpud's own: SIGTERM to those that run for the owner, whatever others do. Refused: unsupported.
    Result<void> ask(const model::InstanceId& id);
    /// The same with SIGKILL, until the instance is gone.
    Result<void> kill_all(const model::InstanceId& id);

  private:
    struct Stopping {
        std::uint64_t generation = 0;  ///< of the instance; another one may get its id
        Nanos kill_at = 0;
        bool only_owners = true;
        WatchPtr next;
    };

    [[nodiscard]] std::vector<model::Process> processes_of(const model::Instance& instance) const;
    [[nodiscard]] bool may_reach(const model::Instance& instance, const model::Process& process,
                                 bool only_owners) const;
    /// From when on SIGKILL is sent; an earlier one counts.
    Nanos kill_from(const model::Instance& instance, Nanos when, bool only_owners);
    void kill(const model::InstanceId& id);

    Outside outside_;
    std::map<model::InstanceId, Stopping> stopping_;
};

}  // namespace cgpu::app
