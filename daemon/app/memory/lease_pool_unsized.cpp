// A pool's memory of unknown size: set aside, made, measured by the driver's figures, judged.
#include <algorithm>

#include "daemon/app/memory/lease_pool.hpp"

namespace cgpu::app {
namespace {

/// What is made may take so many times what was thought, and is explained all the same.
constexpr std::uint64_t kEstimatesAreWithin = 2;

/// What pools are charged for may have gone back to the card without their process having been told.
LeasePool::Range range_of(std::uint64_t figure, const LeaseReport& report) {
    const auto certain = report.charged - report.pooled;
    return {figure - std::min(figure, report.charged), figure - std::min(figure, certain)};
}

bool by_least(const LeasePool::Range& a, const LeasePool::Range& b) { return a.least < b.least; }
bool by_most(const LeasePool::Range& a, const LeasePool::Range& b) { return a.most < b.most; }

}  // namespace

Result<LeasePool::Grant> LeasePool::set_aside(const model::Process& process, What what, std::uint64_t bytes,
                                              Nanos now) {
    const auto need = wire::align_up(bytes);
    const auto free = available();
    if (need > free) return Grant{0, need - free};
    const auto found = account_for(process);
    if (!found) return tl::unexpected(found.error());
    Account& account = **found;
    if (account.pending == 0 && account.coming == 0)
        account.measured = Measured{what, need, account.unsized, 0};
    else if (account.measured)
        account.measured->beside += need;
    account.pending += need;
    account.pending_since = now;
    ++account.coming;
    account.unexplained.may_grow(kEstimatesAreWithin * need);
    account.recent.clear();
    save(account);
    return Grant{need, 0};
}

void LeasePool::made(const model::Process& process) {
    Account* account = living_account(process);
    if (account == nullptr) return;
    account->coming -= std::min(account->coming, 1U);
    forget_figures(*account);
}

void LeasePool::not_made(const model::Process& process, std::uint64_t bytes) {
    Account* account = living_account(process);
    if (account == nullptr) return;
    account->coming -= std::min(account->coming, 1U);
    account->pending -= std::min(wire::align_up(bytes), account->pending);
    account->measured.reset();
    forget_figures(*account);
    save(*account);
}

void LeasePool::moved(const model::Process& process, std::uint64_t gone) {
    Account* account = living_account(process);
    if (account == nullptr) return;
    account->unexplained.should_shrink(gone);
    account->unexplained.may_grow(Unexplained::kAnything);
    forget_figures(*account);
}

void LeasePool::context_gone(const model::Process& process) {
    Account* account = living_account(process);
    if (account == nullptr) return;
    account->unsized = account->pending = 0;
    account->coming = 0;
    account->measured.reset();
    account->unexplained.should_shrink(Unexplained::kAnything);
    forget_figures(*account);
    save(*account);
}

void LeasePool::connected_again(const model::Process& process) {
    Account* account = living_account(process);
    if (account == nullptr) return;
    account->coming = 0;
    moved(process, 0);
}

/// Those from before don't show what has just been announced.
void LeasePool::forget_figures(Account& account) {
    account.recent.clear();
    account.fresh = false;
}

LeaseReport LeasePool::bounded_report(const model::Process& process, const Account& account) const {
    auto report = report_(process).value_or(LeaseReport{});
    report.charged = std::min(report.charged, account.lease);
    report.pooled = std::min(report.pooled, report.charged);
    return report;
}

void LeasePool::look_begins() {
    for (auto& [process, account] : accounts_) {
        account.fresh = true;
        account.lease_before = account.lease;
        account.before = bounded_report(process, account);
        account.looked_at_dead = account.dying;
    }
}

std::optional<LeasePool::Learnt> LeasePool::figure(const model::Process& process,
                                                   std::optional<std::uint64_t> bytes, std::uint64_t context,
                                                   Nanos now) {
    Account* account = living_account(process);
    if (account == nullptr) return std::nullopt;
    account->figured = account->figured || bytes.has_value();
    // A driver that never shows this process says nothing of it: what is set aside stays so.
    if (!account->figured) return std::nullopt;
    const auto shown = bytes.value_or(0);
    auto& beyond_lease = account->beyond_lease;
    beyond_lease.push_back(shown - std::min(shown, std::max(account->lease, account->lease_before)));
    if (beyond_lease.size() > kConfirm) beyond_lease.erase(beyond_lease.begin());
    const bool reports = report_(process).has_value();
    const auto report = bounded_report(process, *account);
    Unexplained::Look look;
    look.now = now;
    if (reports || account->lease > 0) look.always = context;
    // Charges that are not known, or move during the look, can't be told from the rest: the next look will. A
    // process that is stopped in the middle of a change tells nothing until it goes on.
    const bool settled = account->fresh && report == account->before && report.changing == 0 &&
                         (reports || account->lease == 0);
    if (!settled) {
        // But none is larger than the lease.
        look.bytes = beyond_lease.back();
        judge(*account, look);
        return std::nullopt;
    }
    auto& recent = account->recent;
    recent.push_back(range_of(shown, report));
    if (recent.size() > kConfirm) recent.erase(recent.begin());
    if (recent.size() < kConfirm) return std::nullopt;
    const auto learnt = believe(*account);
    look.bytes = std::min_element(recent.begin(), recent.end(), by_least)->least;
    look.settled = account->coming == 0;
    judge(*account, look);
    return learnt;
}

/// Takes the last figures over, as far as they agree.
std::optional<LeasePool::Learnt> LeasePool::believe(Account& account) {
    const auto& recent = account.recent;
    const auto [lowest, highest] = std::minmax_element(recent.begin(), recent.end(), by_least);
    const auto least = lowest->least;
    // What was set aside is a guess: it gives way to the least that is certain. What is known doesn't.
    const auto most =
        account.pending > 0 ? highest->least : std::max_element(recent.begin(), recent.end(), by_most)->most;
    const auto counted = account.unsized + account.pending;
    std::optional<Learnt> learnt;
    if (account.coming > 0) {
        if (least > counted) account.unsized += least - counted;
    } else {
        account.unsized = std::clamp(counted, least, most);
        account.pending = 0;
        if (const auto& measured = account.measured) {
            const auto taken = account.unsized - std::min(measured->before, account.unsized);
            // What else was made meanwhile can't be told from it. Much more than was expected is not believed
            // at once: others' estimates are learnt from it.
            if (taken > 0 && measured->beside <= taken / 4)
                learnt = Learnt{measured->what, measured->asked,
                                std::min(taken, kEstimatesAreWithin * measured->asked)};
        }
        account.measured.reset();
    }
    save(account);
    return learnt;
}

std::uint64_t LeasePool::Account::holds_at_least() const {
    if (dying || beyond_lease.size() < kConfirm) return total();
    return std::max(total(), lease + *std::min_element(beyond_lease.begin(), beyond_lease.end()));
}

/// What is counted of a process that never lets a figure be believed is too little. If that were taken for
/// what it holds, each process of an instance could pass for all that the limit has room for.
std::uint64_t LeasePool::held_by_others(const Account& account) const {
    std::uint64_t sum = account.lease;
    for (const auto& [process, other] : accounts_)
        if (&other != &account) sum += other.holds_at_least();
    return sum;
}

void LeasePool::judge(Account& account, Unexplained::Look look) {
    if (limit_ == kUnlimited) return;
    look.room = limit_ - std::min(held_by_others(account), limit_);
    account.unexplained.seen(look, unexplained_);
    // It counts even where the charges never stand still long enough for a figure to be believed.
    if (account.unexplained.bytes() == 0 || look.bytes <= account.unsized + account.pending) return;
    account.unsized = look.bytes - account.pending;
    save(account);
}

bool LeasePool::unconfirmed() const {
    return std::any_of(accounts_.begin(), accounts_.end(), [](const auto& item) {
        const Account& account = item.second;
        if (account.unexplained.suspected()) return true;
        // A program that allocates all the time leaves no look undisturbed until it has to wait for one.
        if (account.pending > 0 && account.figured && account.coming == 0) return true;
        if (account.recent.empty()) return false;
        const Range& last = account.recent.back();
        const auto counted = account.unsized + account.pending;
        // What is coming may lie below what is set aside for it.
        return counted < last.least || (account.coming == 0 && counted > last.most);
    });
}

std::uint64_t LeasePool::unexplained() const {
    std::uint64_t sum = 0;
    for (const auto& [process, account] : accounts_)
        if (!account.dying) sum += account.unexplained.bytes();
    return sum;
}

}  // namespace cgpu::app
