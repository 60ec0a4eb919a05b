#pragma once

#include <map>
#include <memory>
#include <vector>

#include "daemon/app/memory/context_sizes.hpp"
#include "daemon/app/memory/escape_judge.hpp"
#include "daemon/app/memory/escapes.hpp"
#include "daemon/app/memory/kept_exports.hpp"
#include "daemon/app/memory/lease_pools.hpp"
#include "daemon/app/memory/nvml_poller.hpp"

namespace cgpu::app {

/// What the driver shows of each process; bytes.
using FiguresByPid = std::map<std::int32_t, std::uint64_t>;

struct LeaseSettings {
    RecallQueue::Settings recall;
    NvmlPoller::Settings looks;
    std::uint64_t first_context_estimate = 256ull << 20;  ///< bytes, until a context was measured on the GPU
    /// Bytes that a load may take beyond the code: the first code that calls into the driver's own
    /// (printf, assert, malloc) makes every stack of the context larger. On an H100 that took 64 to 138 MiB
    /// (docs/gpu-results.md), about half a KiB for each of 2048 threads of 132 multiprocessors.
    std::uint64_t load_spare = 160ull << 20;
    Unexplained::Settings unexplained;
    OnEscape on_escape = OnEscape::report;
    Nanos settle = kSecond;          ///< after a restart: how long processes have to connect again
    Nanos reconnect = 30 * kSecond;  ///< after a restart: no process counts as outside the module before then
};

/// Ledger of GPU memory leases, per instance, process and GPU. Used by the event-loop thread only. What is
/// asked for, given, held, exported and not made is in whole granules.
///
/// The life of a lease: a process enters; its asks are granted from its instance's pool or wait for other
/// processes; it gives memory back; it ends (process_exited) and the lease is *dying*. A dying lease counts
/// until the driver no longer shows the process (a forked child may keep its memory alive); where the driver
/// can't be asked, it is dropped at once. What the process had exported then counts for the pool until the
/// GPU's own figure shows that it is free. A closed socket ends nothing.
///
/// After a restart the lease table says which process had which lease. Until `settle` has passed, asks that
/// exceed the free lease wait instead of being refused. If the table was damaged, no new lease is granted
/// during that time, and memory held by processes is counted from the driver's figures: they exceed the empty
/// leases, as contexts do, and sink as memory is freed. The table also says what a context takes on each GPU,
/// so the reservation for one is near the real size from the start.
///
/// A process that the driver shows and that never connected over the link is taken in if it belongs to an
/// instance (LeasePeers::stranger): what it holds then counts for the instance, as unexplained memory. It is
/// *outside the module* even if it holds no more than drivers take by themselves, because every program with
/// the fronts in it sends a Hello before it can have a context. The same holds for any process of the
/// instance on a GPU without a quota of the instance: the fronts don't show that GPU. There the instance gets
/// a pool with a limit of 0.
class Leases {
  public:
    struct Outside {
        Loop& loop;
        Processes& processes;
        Gpus& gpus;
        LeaseTable& table;
        Events& events;
    };

    explicit Leases(Outside outside, LeaseSettings settings = {});
    Leases(const Leases&) = delete;
    Leases& operator=(const Leases&) = delete;

    /// Where processes are reached; null: they can't be reached (any more).
    void set_peers(LeasePeers* peers);
    /// After a start, asks wait until driver_answered(): the first answer may show other GPUs than the state
    /// has.
    void wait_for_driver();
    /// The driver has answered, or has failed to: asks are answered from here on.
    void driver_answered();
    /// All GPUs of the node: while any instance is isolated, each of them is polled.
    void set_gpus(std::vector<model::Uuid> gpus);

    /// A new or changed instance: its limits are in force from here on, whatever is in use. If a limit is
    /// below the leased memory, the instance's processes are asked for the difference, and nothing is granted
    /// until it fits. The first call takes up what an earlier daemon recorded of the instance; leases of
    /// processes that have ended begin to die.
    void set_instance(const model::Instance& instance);
    /// Forgets all its leases; waiting asks are refused.
    void drop_instance(const model::InstanceId& id);
    /// Drops what an earlier daemon recorded of instances that were not set since, except for these, which
    /// may still be.
    void drop_rest(const std::vector<InstanceKey>& except = {});

    /// A process of the instance has connected. Error: from the table; an ask of the process will then be
    /// refused.
    Result<void> process_entered(const InstanceKey& instance, const model::Process& process);
    /// A process of the instance holds memory on this GPU and never connected, or the instance has no quota
    /// on this GPU. Error: from the table.
    Result<void> stranger_entered(const InstanceKey& instance, const model::Process& process,
                                  const model::Uuid& gpu);
    void process_exited(const model::Process& process);

    /// Answered at once, or later on the loop; refused at the latest Settings::deadline after it came to the
    /// front.
    void ask(LeaseAsk ask, LeaseReply reply);
    /// Whether the use of the process's instance will be known better in a moment, because its first context
    /// is new: then ask for the usage (LeaseAsk::What::usage).
    [[nodiscard]] bool awaits_context(const LeaseKey& key) const;
    /// The process has refused its program an allocation of this many bytes, after all that it asked for it.
    /// True: it is counted, because the limit was the reason. One allocation may cause many asks but is
    /// reported once, so the number of refused asks is only an upper bound for what is believed.
    bool allocation_refused(const LeaseKey& key, std::uint64_t bytes);
    /// Takes at most the lease of the process. A front that starts anew in the same process (after exec)
    /// returns all it may have.
    /// `exported`: what was freed had been exported, and a descriptor may keep it (KeptExports).
    void give(const LeaseKey& key, std::uint64_t bytes, bool exported = false);
    /// The process reports how much lease it knows of: anything counted beyond that was in transit when its
    /// connection broke, and will never be used.
    void held(const LeaseKey& key, std::uint64_t bytes);
    /// What a process reports of its unsized memory: see LeasePool.
    void made(const LeaseKey& key);
    void not_made(const LeaseKey& key, std::uint64_t bytes);
    void moved(const LeaseKey& key, std::uint64_t gone);
    void context_gone(const LeaseKey& key);
    /// It has opened so many bytes in all that other processes made.
    void opened_shared(const LeaseKey& key, std::uint64_t bytes);
    /// It has exported so many bytes of its memory in all, or is about to.
    void exported(const LeaseKey& key, std::uint64_t bytes);

    /// Queries the driver soon for what the processes on the GPU hold.
    void look(const model::Uuid& gpu);
    /// What the driver showed after a query began.
    void driver_figure(const model::Uuid& gpu, const DriverFigures& driver);

    /// The most that the instance used of the GPU, since it was created or this daemon began; bytes.
    [[nodiscard]] std::uint64_t peak(const model::InstanceId& id, const model::Uuid& gpu) {
        return pools_.peak(id, gpu);
    }
    /// The same since the last call of this.
    [[nodiscard]] std::uint64_t memory_time(const model::InstanceId& id, const model::Uuid& gpu) {
        return pools_.memory_time(id, gpu);
    }
    [[nodiscard]] std::uint64_t take_peak(const model::InstanceId& id, const model::Uuid& gpu) {
        return pools_.take_peak(id, gpu);
    }
    /// Totals.
    [[nodiscard]] const LeasePools& pools() const { return pools_; }
    /// The expected size of a context on the GPU; bytes.
    [[nodiscard]] std::uint64_t context_estimate(const model::Uuid& gpu) const {
        return contexts_.estimate(gpu);
    }

  private:
    static constexpr Nanos kStrangerEvery = kSecond;

    std::unique_ptr<PoolEntry> make_entry(const PoolKey& key);
    void wait_for_processes();
    /// Nobody is found to have escaped because of it.
    void leases_are_lost();
    void take_up(const InstanceKey& instance);
    NvmlPoller::Next seen(const model::Uuid& gpu, const NvmlPoller::Figures& figures);
    template <class Say>
    void say(const LeaseKey& key, Say say);
    void learn(PoolEntry& entry, const LeasePool::Learnt& learnt);
    void release_connected_strangers(const model::Uuid& gpu);
    void look_for_strangers(const model::Uuid& gpu, const std::vector<DriverProcess>& figures);
    void judge_strangers(const model::Uuid& gpu);
    void drop_dead(const model::Uuid& gpu, const FiguresByPid& figures);
    void left_exports(PoolEntry& entry, std::uint64_t bytes, bool looked);
    void show_kept(PoolEntry& entry);
    [[nodiscard]] DriverFigures charged_figures(const model::Uuid& gpu, DriverFigures figures) const;
    void judge_kept(const model::Uuid& gpu, const DriverFigures& figures);
    void drive(const model::Uuid& gpu);
    void tell_if_gone(const InstanceKey& instance);

    Outside outside_;
    LeaseSettings settings_;
    LeasePeers* peers_ = nullptr;
    std::vector<model::Uuid> gpus_;
    LeasePools pools_;
    ContextSizes contexts_;
    std::map<model::Uuid, KeptExports> kept_;
    /// Leases of an earlier daemon, not taken over yet.
    std::multimap<InstanceKey, LeaseTable::Saved> left_;
    Nanos settled_at_ = 0;
    bool taken_over_ = false;  ///< an instance of an earlier daemon
    Nanos outside_from_ = 0;   ///< before then an unknown process may not have reconnected yet
    bool damaged_ = false;
    bool waiting_for_driver_ = false;
    EscapeJudge judge_{pools_, contexts_};
    Escapes escapes_;
    std::map<model::Uuid, Nanos> strangers_looked_for_;
    NvmlPoller looks_;
    std::shared_ptr<int> alive_ = std::make_shared<int>(0);  ///< posted calls may run after this object's end
};

}  // namespace cgpu::app
