#pragma once

#include <deque>
#include <functional>
#include <set>

#include "daemon/app/memory/pool/lease_ask.hpp"
#include "daemon/app/memory/pool/lease_peers.hpp"
#include "daemon/app/memory/pool/lease_pool.hpp"
#include "daemon/app/ports/loop.hpp"

namespace cgpu::app {

/// The asks of one pool, answered in the order in which they came.
///
/// An ask that exceeds the free lease waits while (a) other processes of the instance return unused lease,
/// (b) the driver frees the memory of a process that has just ended, or what descriptors kept, or (c) cgpud
/// reads the driver's figure for a new context, module or heap, which may be smaller than its reservation.
/// The ask is refused as soon as none of these can bring enough, and at the latest `deadline` after it came
/// to the front of the queue. Time in which the daemon itself was held up doesn't count: an answer may have
/// arrived and not been read yet. A process that lets the deadline pass is not waited for again until it
/// sends something: a stopped process costs its instance one wait and its own unused chunk.
class RecallQueue {
  public:
    struct Settings {
        std::uint64_t chunk = 32ull << 20;  ///< granted at a time if enough is free; bytes
        Nanos deadline = 200'000'000;
        Nanos dying_hope = kSecond;       ///< how long to wait for the memory of an ended process
        Nanos figure_hope = 500'000'000;  ///< how long to wait for the real size of a new thing
        /// How long a lease waits for the real size of its process's first context.
        Nanos context_hope = 100'000'000;
    };

    RecallQueue(Loop& loop, LeasePool& pool, const Settings& settings);

    void set_peers(LeasePeers* peers) { peers_ = peers; }
    /// Until then no ask that lacks memory is refused (other processes are still reconnecting), and with
    /// `hold_all` none is granted either (their memory isn't known yet).
    void settle(Nanos until, bool hold_all);

    /// While this returns true, asks wait. Call drive() when it no longer does.
    void hold_while(std::function<bool()> held) { held_ = std::move(held); }
    /// While this returns true, nothing is granted. Called at each grant.
    void refuse_while(std::function<bool()> refused) { refused_ = std::move(refused); }
    /// Whether the size of a context is known here: otherwise a process waits until the driver shows its own.
    void know_contexts(std::function<bool()> known) { contexts_known_ = std::move(known); }
    /// Called when an ask begins to wait for the driver's figure: several queries in a row are needed.
    void look_with(std::function<void()> look) { look_ = std::move(look); }

    void ask(LeaseAsk ask, LeaseReply reply);
    /// Whether the process has a context of unknown size that the driver will show soon.
    [[nodiscard]] bool awaits_context(const model::Process& process) const;
    /// A process has returned bytes of its lease (0: it has nothing to spare).
    void gave(const model::Process& process, std::uint64_t bytes);
    /// A process has ended: its asks are dropped.
    void forget(const model::Process& process);
    /// Something else has changed: tries again.
    void drive();
    /// Recalls lease above the limit from the processes, without waiting for it.
    void shrink();
    /// Refuses all asks: the instance has ended.
    void close();

  private:
    struct Waiting {
        LeaseAsk ask;
        LeaseReply reply;
        Nanos since = 0;
        std::set<model::Process, ProcessLess> spent;  ///< other processes with nothing to spare
    };
    struct Sibling {
        model::Process process;
        std::uint64_t slack;
    };

    bool step();
    bool waits_for_context(const Waiting& first);
    /// `last`: it would be refused otherwise.
    Result<LeasePool::LeaseGrant> try_grant(const LeaseAsk& ask, bool last = false);
    void answer_last();
    [[nodiscard]] std::vector<Sibling> siblings(const Waiting& first) const;
    [[nodiscard]] std::uint64_t dying_bytes() const;
    [[nodiscard]] std::uint64_t estimated_bytes() const;
    bool may_come(const Waiting& first, std::uint64_t lack);
    void wait_until(Nanos when);
    void deadline_passed();
    void answer_first(LeaseAnswer answer);

    Loop& loop_;
    LeasePool& pool_;
    const Settings& settings_;
    LeasePeers* peers_ = nullptr;
    std::deque<Waiting> waiting_;
    std::set<model::Process, ProcessLess> recalled_;  ///< not answered yet
    std::set<model::Process, ProcessLess> silent_;    ///< let a deadline pass
    std::set<model::Process, ProcessLess> unseen_;    ///< the driver hasn't shown their context in time
    WatchPtr timer_;
    Nanos due_at_ = 0;  ///< when it was due
    Nanos settled_at_ = 0;
    bool hold_all_ = false;
    std::function<bool()> held_ = [] { return false; };
    std::function<bool()> refused_ = [] { return false; };
    std::function<bool()> contexts_known_ = [] { return true; };
    std::function<void()> look_ = [] {};
    bool waits_to_settle_ = false;
    bool driving_ = false;
    bool again_ = false;
};

}  // namespace cgpu::app
