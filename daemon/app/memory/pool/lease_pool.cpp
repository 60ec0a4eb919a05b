#include "daemon/app/memory/pool/lease_pool.hpp"

#include <algorithm>
#include <utility>

namespace cgpu::app {

LeasePool::LeasePool(PoolKey key, LeaseTable& table, Report report, const Loop& loop,
                     const Unexplained::Settings& unexplained)
    : key_(std::move(key)),
      table_(table),
      report_(std::move(report)),
      loop_(loop),
      unexplained_(unexplained) {}

const LeasePool::Account* LeasePool::find(const model::Process& process) const {
    const auto found = accounts_.find(process);
    return found == accounts_.end() ? nullptr : &found->second;
}

LeasePool::Account* LeasePool::find_account(const model::Process& process) {
    const auto found = accounts_.find(process);
    return found == accounts_.end() ? nullptr : &found->second;
}

LeasePool::Account* LeasePool::living_account(const model::Process& process) {
    Account* account = find_account(process);
    return account == nullptr || account->dying ? nullptr : account;
}

Result<LeasePool::Account*> LeasePool::account_for(const model::Process& process) {
    if (Account* account = find_account(process)) return account;
    const auto place = table_.add({key_, process});
    if (!place) return tl::unexpected(place.error());
    Account account;
    account.place = *place;
    return &accounts_.emplace(process, account).first->second;
}

void LeasePool::count(Account& account) {
    total_ += account.total() - std::exchange(account.counted, account.total());
    spare_ += account.unsized.spare() - std::exchange(account.counted_spare, account.unsized.spare());
}

void LeasePool::uncount(const Account& account) {
    total_ -= account.counted;
    spare_ -= account.counted_spare;
}

void LeasePool::save(Account& account) {
    count(account);
    table_.set(account.place, {account.lease, account.unsized.bytes()});
}

std::uint64_t LeasePool::available() const { return free_of(leased() + spare()); }

std::uint64_t LeasePool::charged(const model::Process& process, const Account& account) const {
    if (account.dying) return account.last_charged;
    const auto report = report_(process);
    return report ? std::min(report->charged, account.lease) : account.lease;
}

std::uint64_t LeasePool::charged(const model::Process& process) const {
    const Account* account = find(process);
    return account == nullptr ? 0 : charged(process, *account);
}

std::uint64_t LeasePool::charged_since_look(const model::Process& process) const {
    const Account* account = find(process);
    return account == nullptr ? 0 : std::min(account->charged_at_look, charged(process, *account));
}

std::uint64_t LeasePool::used() const {
    std::uint64_t sum = kept_.bytes;
    for (const auto& [process, account] : accounts_)
        sum += charged(process, account) + account.unsized.bytes();
    return sum;
}

std::uint64_t LeasePool::used(const model::Process& process) const {
    const Account* account = find(process);
    return account == nullptr ? 0 : charged(process, *account) + account->unsized.bytes();
}

void LeasePool::note_use(std::uint64_t coming) {
    std::uint64_t charges = coming + kept_.bytes;
    std::uint64_t unsized_bytes = 0;
    bool known = true;
    for (const auto& [process, account] : accounts_) {
        charges += charged(process, account);
        unsized_bytes += account.unsized.bytes();
        known = known && (account.dying || account.unsized.pending() == 0);
    }
    peak_.note(charges, unsized_bytes, known);
    time_.note(loop_.now(), charges + unsized_bytes);
}

std::uint64_t LeasePool::peak() {
    note_use();
    return peak_.bytes();
}

std::uint64_t LeasePool::take_peak() {
    note_use();
    return peak_.take_latest();
}

std::uint64_t LeasePool::memory_time() {
    note_use();
    return time_.mib_ms();
}

std::uint64_t LeasePool::slack(const model::Process& process) const {
    const Account* account = find(process);
    if (account == nullptr || account->dying) return 0;
    return wire::align_down(account->lease - charged(process, *account));
}

Result<LeasePool::LeaseGrant> LeasePool::lease(const model::Process& process, std::uint64_t bytes,
                                               std::uint64_t chunk, bool last) {
    const auto free = last ? free_of(leased()) : available();
    if (bytes > free) return LeaseGrant{0, bytes - free};
    const auto account = account_for(process);
    if (!account) return tl::unexpected(account.error());
    // At most a quarter of the rest, so that many processes in a small limit don't lock up each other's
    // chunks.
    const auto wished = chunk > bytes ? chunk - bytes : 0;
    const auto granted = bytes + wire::align_down(std::min(wished, (free - bytes) / 4));
    // The ask is for what an allocation needs beyond the lease, all of which it will charge.
    const auto unused = (*account)->lease - charged(process, **account);
    (*account)->lease += granted;
    save(**account);
    note_use(unused + bytes);
    return LeaseGrant{granted, 0};
}

void LeasePool::ask_refused(const model::Process& process) {
    if (Account* account = living_account(process)) ++account->refused_asks;
}

bool LeasePool::allocation_refused(const model::Process& process, std::uint64_t bytes) {
    Account* account = living_account(process);
    if (account == nullptr) return false;
    if (account->refused_asks == 0) return bytes > limit_;
    --account->refused_asks;
    return true;
}

LeasePool::Given LeasePool::give(const model::Process& process, std::uint64_t bytes, bool exported) {
    Account* account = living_account(process);
    if (account == nullptr) return {};
    const auto given = std::min(bytes, account->lease);
    const auto exports = account->exports();
    note_use();
    account->lease -= given;
    // A program that is replaced (exec) gives back all at once, and descriptors may be open in the new one.
    const auto left = exported ? given : exports - std::min(exports, account->lease);
    account->left += left;
    if (bytes > kUnlimited) account->exported = account->left = 0;  // it counts from 0 again
    save(*account);
    return {given, left};
}

void LeasePool::exported(const model::Process& process, std::uint64_t bytes) {
    // What a process said right before its end counts, too.
    if (Account* account = find_account(process))
        account->exported = std::max(account->exported, std::min(bytes, kUnlimited));
}

void LeasePool::set_kept(const Kept& kept) {
    kept_ = kept;
    if (kept_.bytes == 0) {
        if (kept_place_) table_.remove(*kept_place_);
        kept_place_.reset();
    } else {
        // Without a place a later daemon doesn't know of it.
        if (!kept_place_)
            if (const auto place = table_.add({key_, kNobody})) kept_place_ = *place;
        if (kept_place_) table_.set(*kept_place_, {kept_.bytes, 0});
    }
    note_use();
}

Result<void> LeasePool::enter(const model::Process& process) {
    const auto account = account_for(process);
    if (!account) return tl::unexpected(account.error());
    (*account)->stranger = (*account)->outside = false;
    return {};
}

Result<void> LeasePool::enter_stranger(const model::Process& process) {
    if (find(process) != nullptr) return {};
    const auto account = account_for(process);
    if (!account) return tl::unexpected(account.error());
    (*account)->stranger = true;
    return {};
}

void LeasePool::set_outside(const model::Process& process, bool outside) {
    if (Account* account = living_account(process)) account->outside = outside;
}

std::vector<model::Process> LeasePool::outside() const {
    std::vector<model::Process> found;
    for (const auto& [process, account] : accounts_)
        if (account.outside && !account.dying) found.push_back(process);
    return found;
}

void LeasePool::take_up(const LeaseTable::Saved& saved, Nanos now) {
    if (saved.key.process == kNobody) {
        kept_place_ = saved.place;
        kept_ = {saved.amounts.lease, true};
        return;
    }
    Account& account = accounts_[saved.key.process];
    uncount(account);
    account = Account{};
    account.place = saved.place;
    account.lease = saved.amounts.lease;
    account.unsized.take_up(saved.amounts.unsized, now);
    count(account);
}

void LeasePool::exited(const model::Process& process, Nanos now) {
    Account* account = living_account(process);
    if (account == nullptr) return;
    account->last_charged = charged(process, *account);
    account->dying = true;
    account->dying_since = now;
    note_use();
}

void LeasePool::remove(const model::Process& process) {
    const auto found = accounts_.find(process);
    if (found == accounts_.end()) return;
    table_.remove(found->second.place);
    uncount(found->second);
    accounts_.erase(found);
    note_use();
}

void LeasePool::remove_all() {
    for (const auto& [process, account] : accounts_) table_.remove(account.place);
    accounts_.clear();
    total_ = spare_ = 0;
    if (kept_place_) table_.remove(*kept_place_);
    kept_place_.reset();
    kept_ = {};
}

Result<LeasePool::LeaseGrant> LeasePool::set_aside(const model::Process& process, What what,
                                                   std::uint64_t bytes, std::uint64_t spare, Nanos now) {
    const auto free = free_of(leased());
    if (bytes > free) return LeaseGrant{0, bytes - free};
    const auto account = account_for(process);
    if (!account) return tl::unexpected(account.error());
    const auto before = (*account)->unsized.spare();
    const auto rest = wire::align_down(free - bytes);
    const auto room = rest - std::min(rest, this->spare() - before);
    const auto held_back = std::min(std::max(before, spare), room);
    (*account)->unsized.set_aside(what, bytes, held_back, now);
    save(**account);
    return LeaseGrant{bytes, 0};
}

void LeasePool::made(const model::Process& process) {
    if (Account* account = living_account(process)) account->unsized.made();
}

void LeasePool::not_made(const model::Process& process, std::uint64_t bytes) {
    Account* account = living_account(process);
    if (account == nullptr) return;
    account->unsized.not_made(bytes);
    save(*account);
}

void LeasePool::moved(const model::Process& process, std::uint64_t gone) {
    if (Account* account = living_account(process)) account->unsized.moved(gone);
}

void LeasePool::context_gone(const model::Process& process) {
    Account* account = living_account(process);
    if (account == nullptr) return;
    account->unsized.context_gone();
    save(*account);
}

void LeasePool::connected_again(const model::Process& process) {
    if (Account* account = living_account(process)) account->unsized.connected_again();
}

void LeasePool::opened_shared(const model::Process& process, std::uint64_t bytes) {
    if (Account* account = living_account(process)) account->shared = std::max(account->shared, bytes);
}

bool LeasePool::may_be_shared(const Accounts::value_type& item) const {
    const auto bytes = item.second.unsized.unexplained();
    if (bytes > item.second.shared) return false;
    std::uint64_t together = 0;
    for (const auto& [process, account] : accounts_) {
        const auto its = account.unsized.unexplained();
        const bool is_before = its != bytes ? its < bytes : !ProcessLess()(item.first, process);
        if (!account.dying && is_before) together += its;
    }
    return together <= limit_;
}

std::optional<LeaseReport> LeasePool::bounded_report(const model::Process& process,
                                                     const Account& account) const {
    auto report = report_(process);
    if (!report) return std::nullopt;
    report->charged = std::min(report->charged, account.lease);
    report->pooled = std::min(report->pooled, report->charged);
    return report;
}

void LeasePool::look_begins() {
    for (auto& [process, account] : accounts_) {
        account.unsized.look_begins(account.lease, bounded_report(process, account).value_or(LeaseReport{}));
        account.looked_at_dead = account.dying;
        account.charged_at_look = charged(process, account);
    }
}

std::optional<LeasePool::Learnt> LeasePool::figure(const model::Process& process,
                                                   std::optional<std::uint64_t> bytes, std::uint64_t context,
                                                   Nanos now) {
    const auto item = accounts_.find(process);
    if (item == accounts_.end() || item->second.dying) return std::nullopt;
    Account* account = &item->second;
    UnsizedMemory::Facts facts;
    facts.lease = account->lease;
    facts.report = bounded_report(process, *account);
    facts.context = context;
    facts.now = now;
    find_room(*item, facts);
    const auto learnt = account->unsized.figure(bytes, facts, unexplained_);
    if (account->total() != account->counted || account->unsized.spare() != account->counted_spare)
        save(*account);
    note_use();
    return learnt;
}

std::uint64_t LeasePool::Account::holds_at_least() const {
    return dying ? total() : std::max(total(), lease + unsized.beyond_lease());
}

namespace {

/// Whether, of two processes, `other` is to blame for what both hold beyond the limit. It is the one that is
/// further beyond its lease, and in any case one that never connected.
bool is_blamed_before(const LeasePool::Accounts::value_type& other,
                      const LeasePool::Accounts::value_type& item) {
    if (other.second.dying || !other.second.unsized.blamed()) return false;
    if (other.second.stranger != item.second.stranger) return other.second.stranger;
    const auto others = other.second.beyond_lease();
    const auto own = item.second.beyond_lease();
    return others != own ? others > own : ProcessLess()(other.first, item.first);
}

}  // namespace

/// If a process always reports that it is changing, its driver figure is never accepted, so its charge is too
/// low. If that charge were used as what it holds, each process of an instance could claim all the room that
/// the limit leaves.
///
/// What a process holds past the module takes no room from one that holds less: the latter would be blamed
/// for growth that the limit has room for without the former.
void LeasePool::find_room(const Accounts::value_type& item, UnsizedMemory::Facts& facts) const {
    if (limit_ == kUnlimited) return;
    std::uint64_t held = item.second.lease + kept_.bytes;
    for (const auto& other : accounts_) {
        if (&other == &item) continue;
        const bool blamed = is_blamed_before(other, item);
        held += blamed ? other.second.lease : other.second.holds_at_least();
        facts.others_blamed = facts.others_blamed || blamed;
    }
    facts.room = limit_ - std::min(held, limit_);
}

bool LeasePool::unconfirmed() const {
    return std::ranges::any_of(accounts_, [](const auto& item) { return item.second.unsized.unconfirmed(); });
}

std::uint64_t LeasePool::unexplained() const {
    std::uint64_t sum = 0;
    for (const auto& [process, account] : accounts_)
        if (!account.dying) sum += account.unsized.unexplained();
    return sum;
}

}  // namespace cgpu::app
