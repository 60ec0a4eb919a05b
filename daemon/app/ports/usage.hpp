#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/model/instance_id.hpp"
#include "core/model/nanos.hpp"
#include "core/model/node.hpp"
#include "core/model/uuid.hpp"
#include "core/wire/pages.hpp"

namespace cgpu::app {

/// The launches that had to wait at the gate before they passed, by how long each waited: counts[i] for a
/// wait of at most wire::kWaitBoundsNs[i] that is longer than the bound before, the last one for longer
/// waits.
struct LaunchWaits {
    std::array<std::uint64_t, wire::kWaitBuckets> counts{};
    model::Nanos sum = 0;  ///< of their waits
};

/// What one instance uses of one GPU now. Bytes; nanoseconds.
struct InstanceUsage {
    std::uint64_t memory_used = 0;    ///< charged by its processes, contexts and code included
    std::uint64_t memory_leased = 0;  ///< granted to its processes, contexts and code included
    std::uint64_t memory_limit = 0;
    std::uint64_t memory_peak =
        0;  ///< the most of memory_used since it was created (or the daemon restarted)
    std::uint64_t memory_unexplained = 0;  ///< the part of memory_used that came without the module
    std::uint64_t allocations_refused =
        0;  ///< by the memory limit, since it was created (or the daemon restarted)
    std::uint64_t gpu_time =
        0;  ///< since it was created (or the daemon restarted), as its processes measured it
    std::uint64_t granted = 0;  ///< the least that its turns cost, whatever its processes measured
    std::uint64_t due = 0;      ///< target_share, summed over the time
    std::uint64_t waited = 0;   ///< time its launches waited at the gate
    LaunchWaits launch_waits;   ///< of the processes whose front and engine tell them
    std::uint64_t launches = 0;
    std::uint64_t preemptions = 0;  ///< its turns that others cut short
    std::uint64_t longest_kernel = 0;
    /// 0..1: the share by the policy, and the share of the last seconds. Empty if the driver divides the
    /// compute (policy native, a mode without compute): launches aren't measured then.
    std::optional<double> target_share;
    std::optional<double> achieved_share;
    /// 0..1 of the GPU's time: what its processes use beyond what they report, by the driver's samples; 0:
    /// nothing is known to be.
    double compute_unexplained = 0;
    std::vector<std::int32_t> processes;  ///< host pids
    /// Bytes of memory_used by host pid, of the processes that have any and have not ended.
    std::map<std::int32_t, std::uint64_t> memory_of_processes;
    std::vector<std::int32_t> outside;  ///< host pids of those that use the GPU outside the module
    bool foreign = false;               ///< the GPU isn't one of the instance's
};

/// The use of one GPU's memory when cgpud last queried the driver for the node's GPUs. Bytes.
struct MemoryAtLook {
    std::uint64_t in_driver = 0;  ///< by the driver's figure for the card, without its reserve
    std::uint64_t charged = 0;    ///< GpuUsage::memory_used then
};

/// The use of a GPU by processes of no instance, by the driver's samples.
struct StrangersUse {
    double share = 0;       ///< 0..1 of the GPU's time, all of them together
    std::int32_t most = 0;  ///< host pid of the one that uses most; 0: none does
};

struct GpuUsage {
    std::uint64_t memory_used = 0;
    std::uint64_t memory_leased = 0;
    std::optional<MemoryAtLook> at_look = std::nullopt;  ///< empty: the driver hasn't told it yet
    std::uint64_t xid_errors = 0;  ///< that its driver has reported since cgpud was started
    std::uint64_t last_xid = 0;    ///< NVIDIA's number of the last one; 0: none yet
    /// Empty: nobody knows, because the driver wasn't asked or doesn't say.
    std::optional<StrangersUse> strangers = std::nullopt;

    GpuUsage& operator+=(const InstanceUsage& usage) {
        memory_used += usage.memory_used;
        memory_leased += usage.memory_leased;
        return *this;
    }
};

/// Of everything on the node, at one moment.
struct NodeUsage {
    std::map<model::Uuid, GpuUsage> gpus;
    std::map<model::InstanceId, std::map<model::Uuid, InstanceUsage>> instances;
};

/// Source of figures that change often.
class UsageSource {
  public:
    virtual ~UsageSource() = default;
    [[nodiscard]] virtual InstanceUsage usage(const model::InstanceId& id, const model::Uuid& gpu) const = 0;
    /// The GPUs that aren't the instance's and that its processes use.
    [[nodiscard]] virtual std::vector<model::Uuid> foreign_gpus(const model::InstanceId& id) const = 0;
    /// Empty: nobody knows.
    [[nodiscard]] virtual std::optional<StrangersUse> strangers(const model::Uuid& /*gpu*/) const {
        return std::nullopt;
    }
    /// The most of memory_used since the last call of this; bytes.
    [[nodiscard]] virtual std::uint64_t take_memory_peak(const model::InstanceId& id,
                                                         const model::Uuid& gpu) = 0;
};

/// The divider of compute, as the service sees it: it is told of every change of the node.
class Compute {
  public:
    virtual ~Compute() = default;
    /// The whole node after a change; called after every change.
    virtual void update(const model::Node& node) = 0;
};

}  // namespace cgpu::app
