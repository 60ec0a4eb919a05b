#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "daemon/app/memory/pool/lease_estimate.hpp"
#include "daemon/app/memory/pool/lease_pool.hpp"
#include "daemon/app/memory/recall_queue.hpp"

namespace cgpu::app {

/// One instance's memory on one GPU, with the asks that wait for it.
struct PoolEntry {
    static constexpr std::uint64_t kLargestBeyondLoad = std::uint64_t{64} << 20;

    PoolEntry(const PoolKey& key, LeaseTable& table, LeasePool::Report report, Loop& loop,
              const RecallQueue::Settings& recall, const Unexplained::Settings& unexplained,
              std::uint64_t largest_context)
        : pool(key, table, std::move(report), loop, unexplained),
          queue(loop, pool, recall),
          context(0, largest_context) {}

    LeasePool pool;
    RecallQueue queue;
    std::uint64_t refused = 0;  ///< allocations
    bool foreign = false;       ///< the instance has no quota on this GPU
    // Each instance has its own: none is charged for another's.
    /// What loads of this instance took beyond their estimates.
    LeaseEstimate beyond_load{0, kLargestBeyondLoad};
    /// What its contexts took; 0: none has been measured.
    LeaseEstimate context;
};

/// Those of a map from one place to another. (Clang 14 doesn't compile std::ranges::subrange.)
template <class Iterator>
class Neighbours {
  public:
    Neighbours(Iterator first, Iterator last) : first_(first), last_(last) {}
    [[nodiscard]] Iterator begin() const { return first_; }
    [[nodiscard]] Iterator end() const { return last_; }
    [[nodiscard]] bool empty() const { return first_ == last_; }

  private:
    Iterator first_;
    Iterator last_;
};

/// The pools of all instances, and their totals. Bytes include unsized memory; zero for unknown keys.
///
/// A node has hundreds of them, and each of its instances and GPUs is asked about again and again. So whoever
/// asks about one goes over its pools only.
class LeasePools {
  public:
    using Make = std::function<std::unique_ptr<PoolEntry>(const PoolKey&)>;
    /// In the order of their keys: those of an instance are side by side.
    using Entries = std::map<PoolKey, std::unique_ptr<PoolEntry>, PoolOrder>;
    using Range = Neighbours<Entries::const_iterator>;
    using OnGpu = std::map<PoolKey, PoolEntry*>;

    explicit LeasePools(Make make) : make_(std::move(make)) {}

    /// The pools of an instance on all GPUs: of all lives of the id, and of this one.
    [[nodiscard]] Range of(const model::InstanceId& id) const;
    [[nodiscard]] Range of(const InstanceKey& instance) const;
    /// The pools of all instances on a GPU.
    [[nodiscard]] const OnGpu& on(const model::Uuid& gpu) const;
    /// For what concerns the whole node.
    [[nodiscard]] const Entries& all() const { return entries_; }
    /// Whether any instance has a limit.
    [[nodiscard]] bool any_limited() const;
    /// Drops the pools of the instance.
    void drop(const model::InstanceId& id);
    /// Null if there is none.
    [[nodiscard]] PoolEntry* find(const PoolKey& key);
    [[nodiscard]] const PoolEntry* find(const PoolKey& key) const;
    /// Created if there is none.
    PoolEntry& at(const PoolKey& key);
    /// The same for an instance that has no quota on the GPU.
    PoolEntry& foreign_at(const PoolKey& key);

    // Of an instance
    /// Whether it has a limit on one of its GPUs.
    [[nodiscard]] bool isolated(const InstanceKey& instance) const;
    /// The processes that hold a lease and have not ended.
    [[nodiscard]] std::vector<model::Process> living(const InstanceKey& instance) const;
    /// Whether it has any lease, those of ended processes and what descriptors keep of them included.
    [[nodiscard]] bool holds_any(const model::InstanceId& id) const;

    // Of an instance on a GPU
    [[nodiscard]] std::uint64_t used(const model::InstanceId& id, const model::Uuid& gpu) const;
    [[nodiscard]] std::uint64_t leased(const model::InstanceId& id, const model::Uuid& gpu) const;
    /// Memory that came without the module.
    [[nodiscard]] std::uint64_t unexplained(const model::InstanceId& id, const model::Uuid& gpu) const;
    /// The most that was used, since the instance was created or this daemon began; and since the last call
    /// of take_peak(). A GPU's part of an instance that has several pools there: the sum of theirs.
    [[nodiscard]] std::uint64_t peak(const model::InstanceId& id, const model::Uuid& gpu);
    [[nodiscard]] std::uint64_t take_peak(const model::InstanceId& id, const model::Uuid& gpu);
    /// What was used, summed over the time; MiB x ms. It begins as the peak does.
    [[nodiscard]] std::uint64_t memory_time(const model::InstanceId& id, const model::Uuid& gpu);
    /// Allocations that were refused because of the limit, since the instance was created or this daemon
    /// began.
    [[nodiscard]] std::uint64_t refused(const model::InstanceId& id, const model::Uuid& gpu) const;
    /// The processes that use the GPU and never connected for it: their compute bypasses the gate.
    [[nodiscard]] std::vector<model::Process> processes_outside(const model::InstanceId& id,
                                                                const model::Uuid& gpu) const;
    /// Their host pids.
    [[nodiscard]] std::vector<std::int32_t> outside(const model::InstanceId& id,
                                                    const model::Uuid& gpu) const;
    /// The GPUs that aren't the instance's and that its processes use.
    [[nodiscard]] std::vector<model::Uuid> foreign_gpus(const model::InstanceId& id) const;
    [[nodiscard]] std::uint64_t limit(const PoolKey& key) const;
    [[nodiscard]] std::uint64_t used(const PoolKey& key) const;
    /// The processes that have not ended and use memory there, with the amount.
    struct Holder {
        model::Process process;
        std::uint64_t bytes = 0;
    };
    [[nodiscard]] std::vector<Holder> holders(const PoolKey& key) const;
    [[nodiscard]] std::vector<Holder> holders(const model::InstanceId& id, const model::Uuid& gpu) const;

    // Of a process on a GPU
    /// Whether any pool has a process with this pid.
    [[nodiscard]] bool knows(const model::Uuid& gpu, std::int32_t pid) const;
    /// Whether the process has connected, to whichever instance.
    [[nodiscard]] bool said_hello(const model::Uuid& gpu, const model::Process& process) const;
    /// Whether another process with this pid is alive: then the driver's figure for the pid belongs to that
    /// one.
    [[nodiscard]] bool pid_was_reused(const model::Uuid& gpu, const model::Process& process) const;

  private:
    template <class Figure>
    [[nodiscard]] std::uint64_t sum(const model::InstanceId& id, const model::Uuid& gpu, Figure figure) const;

    Make make_;
    Entries entries_;
    std::map<model::Uuid, OnGpu> on_gpus_;  ///< the same, by GPU
};

}  // namespace cgpu::app
