#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "core/model/instance_id.hpp"
#include "core/model/nanos.hpp"
#include "core/model/node.hpp"
#include "core/model/uuid.hpp"
#include "core/view/usage.hpp"

namespace cgpu::app {

/// What one instance uses of one GPU now, and what only cgpud needs of it. Bytes; nanoseconds.
struct InstanceUsage : view::Usage {
    std::uint64_t memory_limit = 0;
    std::uint64_t granted = 0;      ///< the least that its turns cost, whatever its processes measured
    std::uint64_t due = 0;          ///< target_share, summed over the time
    std::uint64_t memory_time = 0;  ///< memory_used, summed over the time; MiB x ms
    bool foreign = false;           ///< the GPU isn't one of the instance's
    bool at_work = false;  ///< by its processes' reports, launches wait at the gate or work isn't done yet

    /// The host pids of all of whom it is.
    [[nodiscard]] std::set<std::uint32_t> pids() const {
        std::set<std::uint32_t> all(processes.begin(), processes.end());
        all.insert(processes_outside.begin(), processes_outside.end());
        return all;
    }
};

/// Of one instance.
using UsageOnGpus = std::map<model::Uuid, InstanceUsage>;

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
    std::map<model::InstanceId, UsageOnGpus> instances;
};

/// Source of figures that change often.
class UsageSource {
  public:
    virtual ~UsageSource() = default;
    [[nodiscard]] virtual InstanceUsage usage(const model::InstanceId& id, const model::Uuid& gpu) const = 0;
    /// Who the processes of the usage are, those outside the module, too.
    [[nodiscard]] virtual std::vector<model::Process> members(const model::InstanceId& /*id*/,
                                                              const model::Uuid& /*gpu*/) const {
        return {};
    }
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

/// What must know the node as it is now, before anything else happens: the divider of compute, for example.
class NodeFollower {
  public:
    virtual ~NodeFollower() = default;
    /// The whole node after a change; called after every change.
    virtual void update(const model::Node& node) = 0;
};
/// They are told in this order.
using NodeFollowers = std::vector<std::reference_wrapper<NodeFollower>>;

}  // namespace cgpu::app
