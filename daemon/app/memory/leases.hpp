#pragma once

#include <map>
#include <memory>
#include <vector>

#include "daemon/app/memory/context_sizes.hpp"
#include "daemon/app/memory/escapes.hpp"
#include "daemon/app/memory/lease_pools.hpp"
#include "daemon/app/memory/nvml_poller.hpp"

namespace cgpu::app {

struct LeaseSettings {
    RecallQueue::Settings recall;
    NvmlPoller::Settings looks;
    std::uint64_t first_context_estimate = 256ull << 20;  ///< bytes, until a context was seen on the GPU
    Unexplained::Settings unexplained;
    OnEscape on_escape = OnEscape::report;
    Nanos settle = kSecond;          ///< after a restart: how long processes have to connect again
    Nanos reconnect = 30 * kSecond;  ///< after a restart: nobody is outside the module before then
};

/// Who has what of every GPU's memory. One thread: the loop's.
///
/// The life of a lease: a process enters; asks are granted from its instance's pool or wait for siblings;
/// gives come back; the process ends (process_exited) and the lease is *dying*: counted until the driver
/// shows the process no longer (a forked child may keep its memory alive), or at once where the driver can't
/// be asked. A closed socket ends nothing.
///
/// After a restart the table says who had what. Until `settle` has passed, asks that lack something wait
/// instead of being refused. Where the table was damaged nobody is granted anything in that time, and what
/// the processes hold is counted by the driver's figures: they lie above leases of nothing, as contexts do,
/// and go down as memory is freed. The table also says what a context takes on each GPU: what is set aside
/// for one is near the truth from the start.
///
/// A process that the driver shows and that never came over the link is taken in where it belongs to an
/// instance (LeasePeers::stranger): then what it holds is the instance's, and unexplained. Even where it
/// holds no more than drivers take by themselves it is *outside the module*, because every program that the
/// fronts are in says hello before it can have a context. So is any process of the instance on a GPU that the
/// instance has no quota on: the fronts don't show it. There the instance gets a pool with a limit of 0.
class Leases {
  public:
    struct Outside {
        Loop& loop;
        Processes& processes;
        Gpus& gpus;
        LeaseTable& table;
    };

    explicit Leases(Outside outside, LeaseSettings settings = {});
    Leases(const Leases&) = delete;
    Leases& operator=(const Leases&) = delete;

    /// Where processes are reached; null: nowhere (any more).
    void set_peers(LeasePeers* peers);
    /// All GPUs of the node: while anybody is isolated, each of them is looked at.
    void set_gpus(std::vector<model::Uuid> gpus);

    /// An instance, new or changed: its limits are in force from here on, whatever is in use. Where one is
    /// below what is leased, its processes are asked for the difference and nothing is granted until it fits.
    /// The first time, what an earlier daemon left of it is taken up; of those, processes that are gone begin
    /// to die.
    void set_instance(const model::Instance& instance);
    /// All it had is forgotten; who waits is refused.
    void drop_instance(const model::InstanceId& id);
    /// What an earlier daemon left of instances that nobody has named since.
    void drop_rest();

    /// A process of the instance has connected. Error: the table's; an ask of it will then be refused.
    Result<void> process_entered(const InstanceKey& instance, const model::Process& process);
    /// One of it holds memory on this GPU and never connected, or has no business there. Error: the table's.
    Result<void> stranger_entered(const InstanceKey& instance, const model::Process& process,
                                  const model::Uuid& gpu);
    void process_exited(const model::Process& process);

    /// Answered at once, or later on the loop; refused within Settings::deadline after its turn came.
    void ask(LeaseAsk ask, LeaseReply reply);
    /// The process has refused its program an allocation of so many bytes, after all that it asked for it.
    /// True: it is counted, because the limit was why. One that was asked for again and again is told once,
    /// so the asks that were refused are no measure of it, only of the most that can be true.
    bool allocation_refused(const LeaseKey& key, std::uint64_t bytes);
    /// Takes at most its lease off it. A front that starts anew in the same process (after exec) gives all it
    /// may have.
    void give(const LeaseKey& key, std::uint64_t bytes);
    /// The process says how much it knows of: what is counted beyond that was on its way when its connection
    /// broke, and nobody will ever use it.
    void held(const LeaseKey& key, std::uint64_t bytes);
    /// What a process says of its unsized memory: see LeasePool.
    void made(const LeaseKey& key);
    void not_made(const LeaseKey& key, std::uint64_t bytes);
    void moved(const LeaseKey& key, std::uint64_t gone);
    void context_gone(const LeaseKey& key);
    /// It has opened so many bytes in all that other processes made.
    void opened_shared(const LeaseKey& key, std::uint64_t bytes);

    /// Asks the driver soon what its processes hold.
    void look(const model::Uuid& gpu);
    /// What the driver showed after a look began.
    void driver_figure(const model::Uuid& gpu, const std::vector<DriverProcess>& figures);

    /// What they add up to.
    [[nodiscard]] const LeasePools& pools() const { return pools_; }
    /// What a context probably takes on the GPU; bytes.
    [[nodiscard]] std::uint64_t context_estimate(const model::Uuid& gpu) const {
        return contexts_.estimate(gpu);
    }

  private:
    static constexpr Nanos kStrangerEvery = kSecond;

    std::unique_ptr<PoolEntry> make_entry(const PoolKey& key);
    void take_up(const InstanceKey& instance);
    NvmlPoller::Next seen(const model::Uuid& gpu, const NvmlPoller::Figures& figures);
    template <class Say>
    void say(const LeaseKey& key, Say say);
    void learn(PoolEntry& entry, const LeasePool::Learnt& learnt);
    void look_for_strangers(const model::Uuid& gpu, const std::vector<DriverProcess>& figures);
    void judge(const model::Uuid& gpu);
    void judge_strangers(const model::Uuid& gpu);
    void drop_dead(const model::Uuid& gpu, const std::vector<DriverProcess>& figures);
    void drive(const model::Uuid& gpu);
    void tell_if_gone(const InstanceKey& instance);

    Outside outside_;
    LeaseSettings settings_;
    LeasePeers* peers_ = nullptr;
    std::vector<model::Uuid> gpus_;
    LeasePools pools_;
    ContextSizes contexts_;
    std::vector<LeaseTable::Saved> left_;  ///< by an earlier daemon, not taken up yet
    Nanos settled_at_ = 0;
    Nanos outside_from_ = 0;  ///< before then a stranger may be one that hasn't connected again yet
    bool damaged_ = false;
    Escapes escapes_;
    std::map<model::Uuid, Nanos> strangers_looked_for_;
    NvmlPoller looks_;
    std::shared_ptr<int> alive_ = std::make_shared<int>(0);  ///< what was posted may come after our end
};

}  // namespace cgpu::app
