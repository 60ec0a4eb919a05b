#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "core/wire/limits.hpp"
#include "daemon/app/memory/pool/lease_ask.hpp"
#include "daemon/app/memory/pool/lease_estimate.hpp"
#include "daemon/app/memory/pool/lease_peers.hpp"
#include "daemon/app/memory/pool/lease_table.hpp"
#include "daemon/app/memory/pool/unsized_memory.hpp"
#include "daemon/app/ports/loop.hpp"

namespace cgpu::app {

/// The limit of an instance whose memory is not isolated. Small enough that sums of grants can't overflow.
constexpr std::uint64_t kUnlimited = std::uint64_t{1} << 62;
/// Nobody has or asks for more: larger figures are nonsense.
constexpr std::uint64_t kLargestAsk = std::uint64_t{1} << 50;

/// One instance's memory on one GPU: its limit, and what each of its processes has of it.
///
/// Beside its lease a process has unsized memory: contexts, code, heaps (UnsizedMemory).
///
/// No grant ever takes the sum of leases and unsized memory over the limit. It can lie above it all the same,
/// when the limit was lowered or the driver shows more than was set aside; then nothing is granted until it
/// fits. Every change is in the table before the caller hears of it.
class LeasePool {
  public:
    using What = UnsizedMemory::What;
    using Learnt = UnsizedMemory::Learnt;

    struct Account {
        std::size_t place = 0;           ///< in the table
        std::uint64_t lease = 0;         ///< bytes it may charge; whole granules
        UnsizedMemory unsized;           ///< what it has beside that
        std::uint64_t shared = 0;        ///< bytes of other processes that it says it has opened
        std::uint64_t refused_asks = 0;  ///< for which no refused allocation has been told yet
        bool stranger = false;           ///< it holds memory and never said hello
        bool outside = false;            ///< and it should have: what it computes passes the gate unseen

        bool dying = false;  ///< the process is gone, its memory not yet
        Nanos dying_since = 0;
        bool looked_at_dead = false;     ///< a look at the driver has begun since it died
        std::uint64_t last_charged = 0;  ///< by a dying process

        [[nodiscard]] std::uint64_t total() const { return lease + unsized.bytes(); }
        /// The same, or what it holds at least by the last looks, where that is more.
        [[nodiscard]] std::uint64_t holds_at_least() const;
        /// What of that is beyond its lease.
        [[nodiscard]] std::uint64_t beyond_lease() const { return holds_at_least() - lease; }
    };
    using Accounts = std::map<model::Process, Account, ProcessLess>;

    /// Either some bytes or what is lacking for them.
    struct LeaseGrant {
        std::uint64_t bytes = 0;
        std::uint64_t lack = 0;
    };

    /// What a process reports; nothing where it hasn't reported (yet).
    using Report = std::function<std::optional<LeaseReport>(const model::Process&)>;

    LeasePool(PoolKey key, LeaseTable& table, Report report, const Unexplained::Settings& unexplained);

    [[nodiscard]] const PoolKey& key() const { return key_; }
    [[nodiscard]] const Accounts& accounts() const { return accounts_; }
    [[nodiscard]] const Account* find(const model::Process& process) const;
    [[nodiscard]] std::uint64_t limit() const { return limit_; }
    void set_limit(std::uint64_t bytes) { limit_ = bytes < kUnlimited ? bytes : kUnlimited; }

    /// Leases and unsized memory together.
    [[nodiscard]] std::uint64_t leased() const;
    /// What is left to grant.
    [[nodiscard]] std::uint64_t available() const;
    /// Charges and unsized memory together.
    [[nodiscard]] std::uint64_t used() const;
    /// The same of one process.
    [[nodiscard]] std::uint64_t used(const model::Process& process) const;
    /// What a process has charged: as it reports, at most its lease; its whole lease where it hasn't
    /// reported.
    [[nodiscard]] std::uint64_t charged(const model::Process& process) const;
    /// What a living process could give back.
    [[nodiscard]] std::uint64_t slack(const model::Process& process) const;

    /// Grants bytes, and up to `chunk` where much more than that is left. Error: the table's.
    Result<LeaseGrant> lease(const model::Process& process, std::uint64_t bytes, std::uint64_t chunk);
    /// An ask of the process was refused because of the limit.
    void ask_refused(const model::Process& process);
    /// The process says that it has refused an allocation of so many bytes. False: it was not the limit,
    /// because they are within it and no ask was refused that this could be about.
    bool allocation_refused(const model::Process& process, std::uint64_t bytes);
    /// Takes at most its lease off it; the answer is how much.
    std::uint64_t give(const model::Process& process, std::uint64_t bytes);

    /// Sets bytes aside for something that is about to be made. Error: the table's.
    Result<LeaseGrant> set_aside(const model::Process& process, What what, std::uint64_t bytes, Nanos now);
    // What a living process says of its unsized memory: see UnsizedMemory.
    void made(const model::Process& process);
    void not_made(const model::Process& process, std::uint64_t bytes);
    void moved(const model::Process& process, std::uint64_t gone);
    void context_gone(const model::Process& process);
    void connected_again(const model::Process& process);
    /// It says that it has opened so many bytes in all that other processes made.
    void opened_shared(const model::Process& process, std::uint64_t bytes);
    /// What the driver may show of a process that is another's: what it says, within the limit. A process
    /// that lies is not killed for so much more than its limit, but it is reported, and refused more.
    [[nodiscard]] std::uint64_t may_be_shared(const Account& account) const {
        return account.shared < limit_ ? account.shared : limit_;
    }

    /// A look at the driver begins: notes what is reported now.
    void look_begins();
    /// What the driver showed for a process at some moment since then; nothing where it didn't show it.
    /// `context`: what one is expected to take here. Answers the size of a thing where this figure tells it.
    std::optional<Learnt> figure(const model::Process& process, std::optional<std::uint64_t> bytes,
                                 std::uint64_t context, Nanos now);

    /// The last figure differs from what is counted: another look would help.
    [[nodiscard]] bool unconfirmed() const;
    /// Bytes of all processes that came past the module.
    [[nodiscard]] std::uint64_t unexplained() const;
    /// The living processes that use the GPU outside the module.
    [[nodiscard]] std::vector<model::Process> outside() const;

    /// A process of the instance has said hello, and may hold nothing yet; from now on the driver's figure
    /// counts for it. Error: the table's.
    Result<void> enter(const model::Process& process);
    /// One of which the driver shows memory. The same, but for that it hasn't said hello.
    Result<void> enter_stranger(const model::Process& process);
    void set_outside(const model::Process& process, bool outside);
    /// A lease of an earlier daemon.
    void take_up(const LeaseTable::Saved& saved, Nanos now);
    void exited(const model::Process& process, Nanos now);
    /// Its memory is gone.
    void remove(const model::Process& process);
    void remove_all();

  private:
    Result<Account*> account_for(const model::Process& process);
    Account* find_account(const model::Process& process);
    Account* living_account(const model::Process& process);
    /// What it reports, if anything, with no more charged than it has leased.
    [[nodiscard]] std::optional<LeaseReport> bounded_report(const model::Process& process,
                                                            const Account& account) const;
    /// Sets what the limit leaves to a process for memory beyond its lease.
    void find_room(const Accounts::value_type& item, UnsizedMemory::Facts& facts) const;
    void save(const Account& account);

    PoolKey key_;
    LeaseTable& table_;
    Report report_;
    const Unexplained::Settings& unexplained_;
    std::uint64_t limit_ = 0;
    Accounts accounts_;
};

}  // namespace cgpu::app
