// The contexts of a pool's processes: nobody knows their size before they exist, and only the driver knows it
// then.
#include <algorithm>

#include "daemon/app/lease_pool.hpp"

namespace cgpu::app {

Result<LeasePool::Grant> LeasePool::reserve_context(const model::Process& process, std::uint64_t bytes,
                                                    Nanos now) {
    const auto need = up_to_granule(bytes);
    const auto free = available();
    if (need > free) return Grant{0, need - free};
    const auto account = account_for(process);
    if (!account) return tl::unexpected(account.error());
    (*account)->first_context = (*account)->context == 0 && (*account)->pending == 0;
    (*account)->pending += need;
    (*account)->pending_since = now;
    (*account)->context_coming = true;
    (*account)->recent.clear();
    save(**account);
    return Grant{need, 0};
}

void LeasePool::unreserve_context(const model::Process& process, std::uint64_t bytes) {
    Account* account = find_account(process);
    if (account == nullptr || account->dying) return;
    account->pending -= std::min(bytes, account->pending);
    if (account->pending == 0) account->context_coming = account->first_context = false;
    save(*account);
}

void LeasePool::context_done(const model::Process& process) {
    if (Account* account = find_account(process)) account->context_coming = false;
}

void LeasePool::context_gone(const model::Process& process) {
    Account* account = find_account(process);
    if (account == nullptr || account->dying) return;
    account->context = account->pending = 0;
    account->context_coming = account->first_context = false;
    account->recent.clear();
    save(*account);
}

void LeasePool::look_begins() {
    for (auto& [process, account] : accounts_) account.charged_before = charged(process);
}

std::optional<std::uint64_t> LeasePool::figure(const model::Process& process,
                                               std::optional<std::uint64_t> bytes) {
    Account* account = find_account(process);
    if (account == nullptr || account->dying || account->context_coming) return std::nullopt;
    account->figured = account->figured || bytes.has_value();
    // Without a report the unused part of the lease can't be told from what is charged.
    if (account->lease > 0 && !charged_(process)) return std::nullopt;
    const auto now_charged = charged(process);
    // Charges that moved during the look can't be told from contexts: the next look will.
    if (now_charged != account->charged_before) return std::nullopt;
    // A driver that never shows this process says nothing of its contexts: the reservation stays.
    if (!account->figured) return std::nullopt;
    auto& recent = account->recent;
    recent.push_back(bytes.value_or(0) - std::min(bytes.value_or(0), now_charged));
    if (recent.size() > kConfirm) recent.erase(recent.begin());
    if (recent.size() < kConfirm) return std::nullopt;
    const auto [least, most] = std::minmax_element(recent.begin(), recent.end());
    account->context = std::clamp(account->context + account->pending, *least, *most);
    account->pending = 0;
    const bool tells = account->first_context && account->context > 0;
    account->first_context = false;
    save(*account);
    return tells ? std::optional(account->context) : std::nullopt;
}

bool LeasePool::unconfirmed() const {
    return std::any_of(accounts_.begin(), accounts_.end(), [](const auto& item) {
        const Account& account = item.second;
        // A program that allocates all the time leaves no look undisturbed until it has to wait for one.
        if (account.pending > 0 && account.figured && !account.context_coming) return true;
        return !account.recent.empty() && account.recent.back() != account.context + account.pending;
    });
}

}  // namespace cgpu::app
