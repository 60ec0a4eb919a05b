#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "core/wire/limits.hpp"
#include "daemon/app/lease_table.hpp"
#include "daemon/app/loop.hpp"

namespace cgpu::app {

/// The limit of an instance whose memory is not isolated. Small enough that sums of grants can't overflow.
constexpr std::uint64_t kUnlimited = std::uint64_t{1} << 62;
/// Nobody has or asks for more: larger figures are nonsense.
constexpr std::uint64_t kLargestAsk = std::uint64_t{1} << 50;

[[nodiscard]] constexpr std::uint64_t whole_granules(std::uint64_t bytes) {
    return bytes / wire::kGranule * wire::kGranule;
}
[[nodiscard]] constexpr std::uint64_t up_to_granule(std::uint64_t bytes) {
    return whole_granules(bytes + wire::kGranule - 1);
}

/// One instance's memory on one GPU: its limit, and what each of its processes has of it.
///
/// No grant ever takes the sum of leases and contexts over the limit. It can lie above it all the same, when
/// the limit was lowered or the driver shows larger contexts than were reserved; then nothing is granted
/// until it fits. Every change is in the table before the caller hears of it.
class LeasePool {
  public:
    struct Account {
        std::size_t place = 0;        ///< in the table
        std::uint64_t lease = 0;      ///< bytes it may charge; whole granules
        std::uint64_t context = 0;    ///< bytes its contexts take: the driver's figure less what is charged
        std::uint64_t pending = 0;    ///< bytes reserved for contexts that the driver hasn't shown yet
        Nanos pending_since = 0;      ///< the last of them
        bool context_coming = false;  ///< a context is being made: no figure says anything about it yet
        bool first_context = false;   ///< the next figure is that of one fresh context
        bool figured = false;         ///< the driver has shown this process
        std::uint64_t charged_before = 0;   ///< what it had charged when the look at the driver began
        std::vector<std::uint64_t> recent;  ///< the last kConfirm figures of its contexts, the newest last

        bool dying = false;  ///< the process is gone, its memory not yet
        Nanos dying_since = 0;
        std::uint64_t last_charged = 0;  ///< by a dying process

        [[nodiscard]] std::uint64_t total() const { return lease + context + pending; }
    };
    /// What is charged and what the driver shows are never read at one moment. A figure is believed as far as
    /// so many looks in a row agree with it.
    static constexpr std::size_t kConfirm = 3;

    using Accounts = std::map<model::Process, Account, ProcessLess>;

    /// Either some bytes or what is lacking for them.
    struct Grant {
        std::uint64_t bytes = 0;
        std::uint64_t lack = 0;
    };

    /// What a process reports as charged; nothing where it hasn't reported (yet).
    using Charged = std::function<std::optional<std::uint64_t>(const model::Process&)>;

    LeasePool(PoolKey key, LeaseTable& table, Charged charged);

    [[nodiscard]] const PoolKey& key() const { return key_; }
    [[nodiscard]] const Accounts& accounts() const { return accounts_; }
    [[nodiscard]] const Account* find(const model::Process& process) const;
    [[nodiscard]] std::uint64_t limit() const { return limit_; }
    void set_limit(std::uint64_t bytes) { limit_ = bytes < kUnlimited ? bytes : kUnlimited; }

    /// Leases and contexts together.
    [[nodiscard]] std::uint64_t leased() const;
    /// What is left to grant.
    [[nodiscard]] std::uint64_t available() const;
    /// Charges and contexts together.
    [[nodiscard]] std::uint64_t used() const;
    /// The same of one process.
    [[nodiscard]] std::uint64_t used(const model::Process& process) const;
    /// What a process has charged: as it reports, at most its lease; its whole lease where it hasn't
    /// reported.
    [[nodiscard]] std::uint64_t charged(const model::Process& process) const;
    /// What a living process could give back.
    [[nodiscard]] std::uint64_t slack(const model::Process& process) const;

    /// Grants bytes, and up to `chunk` where much more than that is left. Error: the table's.
    Result<Grant> lease(const model::Process& process, std::uint64_t bytes, std::uint64_t chunk);
    /// Takes at most its lease off it; the answer is how much.
    std::uint64_t give(const model::Process& process, std::uint64_t bytes);

    /// Sets bytes aside for a context that is about to be made. Error: the table's.
    Result<Grant> reserve_context(const model::Process& process, std::uint64_t bytes, Nanos now);
    /// Undoes a reservation whose answer didn't reach the process.
    void unreserve_context(const model::Process& process, std::uint64_t bytes);
    void context_done(const model::Process& process);
    void context_gone(const model::Process& process);

    /// A look at the driver begins: notes what is charged now.
    void look_begins();
    /// What the driver showed for a process at some moment since then; nothing where it didn't show it.
    /// Answers the size of a context where this figure tells it.
    std::optional<std::uint64_t> figure(const model::Process& process, std::optional<std::uint64_t> bytes);

    /// The last figure differs from what is counted: another look would help.
    [[nodiscard]] bool unconfirmed() const;

    /// A process of the instance that holds nothing yet; from now on the driver's figure counts for it.
    /// Error: the table's.
    Result<void> enter(const model::Process& process);
    /// A lease of an earlier daemon.
    void take_up(const LeaseTable::Saved& saved);
    void exited(const model::Process& process, Nanos now);
    /// Its memory is gone.
    void remove(const model::Process& process);
    void remove_all();

  private:
    Result<Account*> account_for(const model::Process& process);
    Account* find_account(const model::Process& process);
    void save(const Account& account);

    PoolKey key_;
    LeaseTable& table_;
    Charged charged_;
    std::uint64_t limit_ = 0;
    Accounts accounts_;
};

}  // namespace cgpu::app
