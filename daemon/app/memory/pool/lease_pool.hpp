#pragma once

#include <algorithm>
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
#include "daemon/app/memory/pool/memory_peak.hpp"
#include "daemon/app/memory/pool/memory_time.hpp"
#include "daemon/app/memory/pool/unsized_memory.hpp"
#include "daemon/app/ports/loop.hpp"

namespace cgpu::app {

/// The limit of an instance whose memory is not isolated. Small enough that sums of grants can't overflow.
constexpr std::uint64_t kUnlimited = std::uint64_t{1} << 62;
/// No process has or asks for more: larger figures are invalid.
constexpr std::uint64_t kLargestAsk = std::uint64_t{1} << 50;

/// One instance's memory on one GPU: its limit, and the part of each of its processes.
///
/// Beside its lease a process has unsized memory: contexts, code, heaps (UnsizedMemory).
///
/// No grant takes the sum of leases and unsized memory over the limit. The sum can still exceed it, if the
/// limit was lowered or the driver shows more than was set aside; then nothing is granted until it fits.
/// Every change is in the table before the caller is told.
class LeasePool {
  public:
    using What = UnsizedMemory::What;
    using Learnt = UnsizedMemory::Learnt;

    struct Account {
        std::size_t place = 0;           ///< in the table
        std::uint64_t lease = 0;         ///< bytes it may charge; whole granules
        UnsizedMemory unsized;           ///< what it has beside that
        std::uint64_t shared = 0;        ///< bytes of other processes that it says it has opened
        std::uint64_t exported = 0;      ///< bytes of its lease that it says it has exported in all so far
        std::uint64_t left = 0;          ///< of them, what is off its lease already
        std::uint64_t refused_asks = 0;  ///< refused asks without a reported allocation yet
        bool stranger = false;           ///< it holds memory and never connected
        bool outside = false;            ///< it should have connected: its compute bypasses the gate

        bool dying = false;  ///< the process has ended, its memory is not free yet
        Nanos dying_since = 0;
        bool looked_at_dead = false;        ///< a query of the driver has begun since it died
        std::uint64_t last_charged = 0;     ///< by a dying process
        std::uint64_t charged_at_look = 0;  ///< when the last query of the driver began

        std::uint64_t counted = 0;        ///< what of total() is in the pool's sum
        std::uint64_t counted_spare = 0;  ///< the same of what is held back

        [[nodiscard]] std::uint64_t total() const { return lease + unsized.bytes(); }
        /// What of its lease may live on without it.
        [[nodiscard]] std::uint64_t exports() const {
            return std::min(exported - std::min(left, exported), lease);
        }
        /// The same, or the least that the last queries prove, if that is more.
        [[nodiscard]] std::uint64_t holds_at_least() const;
        /// What of that is beyond its lease.
        [[nodiscard]] std::uint64_t beyond_lease() const { return holds_at_least() - lease; }
    };
    using Accounts = std::map<model::Process, Account, ProcessLess>;

    /// Either some bytes, or how many are missing.
    struct LeaseGrant {
        std::uint64_t bytes = 0;
        std::uint64_t lack = 0;
    };

    /// What a process reports; empty if it hasn't reported (yet).
    using Report = std::function<std::optional<LeaseReport>(const model::Process&)>;

    LeasePool(PoolKey key, LeaseTable& table, Report report, const Loop& loop,
              const Unexplained::Settings& unexplained);

    [[nodiscard]] const PoolKey& key() const { return key_; }
    [[nodiscard]] const Accounts& accounts() const { return accounts_; }
    [[nodiscard]] const Account* find(const model::Process& process) const;
    [[nodiscard]] std::uint64_t limit() const { return limit_; }
    void set_limit(std::uint64_t bytes) { limit_ = bytes < kUnlimited ? bytes : kUnlimited; }

    /// Leases, unsized memory and what descriptors keep together.
    [[nodiscard]] std::uint64_t leased() const { return kept_.bytes + total_; }
    /// What is left to grant, without what is held back for loads.
    [[nodiscard]] std::uint64_t available() const;
    /// What of the limit is held back for loads.
    [[nodiscard]] std::uint64_t spare() const { return spare_; }
    /// Charges, unsized memory and what descriptors keep together.
    [[nodiscard]] std::uint64_t used() const;
    /// The same of one process.
    [[nodiscard]] std::uint64_t used(const model::Process& process) const;
    /// The most that was used at any time since it was made; and since the last call of take_peak().
    [[nodiscard]] std::uint64_t peak();
    [[nodiscard]] std::uint64_t take_peak();
    /// What was used, summed over the time since it was made; MiB x ms.
    [[nodiscard]] std::uint64_t memory_time();
    /// What a process has charged: its report, but at most its lease; its whole lease if it hasn't reported.
    [[nodiscard]] std::uint64_t charged(const model::Process& process) const;
    /// The least that it had charged since the last query of the driver began, as far as that is known.
    [[nodiscard]] std::uint64_t charged_since_look(const model::Process& process) const;
    /// What a living process could return.
    [[nodiscard]] std::uint64_t slack(const model::Process& process) const;

    /// Grants bytes, and up to `chunk` if much more than that is left. `last`: it may take what is held back
    /// for loads, too. Error: from the table.
    Result<LeaseGrant> lease(const model::Process& process, std::uint64_t bytes, std::uint64_t chunk,
                             bool last = false);
    /// An ask of the process was refused because of the limit.
    void ask_refused(const model::Process& process);
    /// The process reports that it has refused an allocation of this many bytes. False: the limit was not the
    /// reason, because the bytes are within it and no refused ask can belong to the allocation.
    bool allocation_refused(const model::Process& process, std::uint64_t bytes);
    /// Takes at most its lease. `exported`: what was freed had been exported.
    struct Given {
        std::uint64_t bytes = 0;
        std::uint64_t exported = 0;  ///< of them: a descriptor may keep them
    };
    Given give(const model::Process& process, std::uint64_t bytes, bool exported = false);
    /// The process says that it has exported so many bytes in all. Until it has given these back, they are
    /// among its lease; what it gives back beyond the rest of its lease is one of them.
    void exported(const model::Process& process, std::uint64_t bytes);
    /// What exported memory of this instance descriptors keep, beside all processes (KeptExports).
    struct Kept {
        std::uint64_t bytes = 0;
        bool lasting = false;  ///< the instance doesn't end before it is free

        friend bool operator==(const Kept&, const Kept&) = default;
    };
    void set_kept(const Kept& kept);
    [[nodiscard]] const Kept& kept() const { return kept_; }

    /// Sets bytes aside for something that is about to be made, and of `spare` what there is room for: what
    /// is held back for other loads is no obstacle. Error: from the table.
    Result<LeaseGrant> set_aside(const model::Process& process, What what, std::uint64_t bytes,
                                 std::uint64_t spare, Nanos now);
    // What a living process says of its unsized memory: see UnsizedMemory.
    void made(const model::Process& process);
    void not_made(const model::Process& process, std::uint64_t bytes);
    void moved(const model::Process& process, std::uint64_t gone);
    void context_gone(const model::Process& process);
    void connected_again(const model::Process& process);
    /// It says that it has opened so many bytes in all that other processes made.
    void opened_shared(const model::Process& process, std::uint64_t bytes);
    /// Whether what came to a process without the module may be memory of others that it says it has opened.
    /// All processes of the instance together are believed up to the limit, those with the least first:
    /// within an instance, no more than the limit can have been made for others to open. (The driver shows
    /// such memory once.) Who lies is not killed for so much more than the limit, but is reported, and
    /// refused more.
    [[nodiscard]] bool may_be_shared(const Accounts::value_type& item) const;

    /// A query of the driver begins: notes what is reported now.
    void look_begins();
    /// What the driver showed for a process at some moment since then; empty if it didn't show the process.
    /// `context`: the expected size of a context here. Returns the size of a thing if this figure reveals it.
    std::optional<Learnt> figure(const model::Process& process, std::optional<std::uint64_t> bytes,
                                 std::uint64_t context, Nanos now);

    /// Whether the last figure differs from the counted bytes: another query would help.
    [[nodiscard]] bool unconfirmed() const;
    /// Bytes of all processes that came without the module.
    [[nodiscard]] std::uint64_t unexplained() const;
    /// The living processes that use the GPU outside the module.
    [[nodiscard]] std::vector<model::Process> outside() const;

    /// A process of the instance has connected, and may hold nothing yet; from now on the driver's figure
    /// counts for it. Error: from the table.
    Result<void> enter(const model::Process& process);
    /// The same for a process of which the driver shows memory, and that hasn't connected.
    Result<void> enter_stranger(const model::Process& process);
    void set_outside(const model::Process& process, bool outside);
    /// A lease of an earlier daemon, or what that one counted as kept.
    void take_up(const LeaseTable::Saved& saved, Nanos now);
    void exited(const model::Process& process, Nanos now);
    /// Its memory is free.
    void remove(const model::Process& process);
    void remove_all();

  private:
    /// What the limit leaves beside so much.
    [[nodiscard]] std::uint64_t free_of(std::uint64_t sum) const { return sum < limit_ ? limit_ - sum : 0; }
    Result<Account*> account_for(const model::Process& process);
    Account* find_account(const model::Process& process);
    Account* living_account(const model::Process& process);
    /// Its report, if any, with at most its lease charged.
    [[nodiscard]] std::optional<LeaseReport> bounded_report(const model::Process& process,
                                                            const Account& account) const;
    /// Sets what the limit leaves to a process for memory beyond its lease.
    void find_room(const Accounts::value_type& item, UnsizedMemory::Facts& facts) const;
    /// Call after each change of what an account has: brings the sums and the table up to date.
    void save(Account& account);
    void count(Account& account);
    void uncount(const Account& account);
    [[nodiscard]] std::uint64_t charged(const model::Process& process, const Account& account) const;
    /// Counts what is used now, and `coming` bytes more, for the peak and the sum over the time.
    void note_use(std::uint64_t coming = 0);

    PoolKey key_;
    LeaseTable& table_;
    Report report_;
    const Loop& loop_;
    const Unexplained::Settings& unexplained_;
    std::uint64_t limit_ = 0;
    Accounts accounts_;
    // Sums over the accounts: an ask needn't look at all of them.
    std::uint64_t total_ = 0;
    std::uint64_t spare_ = 0;
    Kept kept_;
    std::optional<std::size_t> kept_place_;  ///< in the table
    MemoryPeak peak_;
    MemoryTime time_;
};

}  // namespace cgpu::app
