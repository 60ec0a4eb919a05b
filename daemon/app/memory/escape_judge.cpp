#include "daemon/app/memory/escape_judge.hpp"

namespace cgpu::app {

std::vector<Escapes::Found> EscapeJudge::found_on(const model::Uuid& gpu) const {
    std::vector<Escapes::Found> found;
    for (const auto& [key, entry] : pools_.on(gpu)) {
        for (const auto& item : entry->pool.accounts()) {
            const auto& [process, account] = item;
            const auto bytes = hidden_by(item);
            if (account.dying || (bytes == 0 && !account.outside)) continue;
            found.push_back({.key = {key, process},
                             .bytes = bytes,
                             .outside = account.outside,
                             .foreign = entry->foreign,
                             .shared = entry->pool.may_be_shared(item),
                             .context = may_be_context(*entry, account)});
        }
    }
    return found;
}

bool EscapeJudge::refuses(const InstanceKey& instance) const {
    for (const auto& [key, entry] : pools_.of(instance)) {
        for (const auto& item : entry->pool.accounts()) {
            const auto& account = item.second;
            const bool hides = hidden_by(item) > 0 && !may_be_context(*entry, account);
            if (!account.dying && (account.outside || hides)) return true;
        }
    }
    return false;
}

std::uint64_t EscapeJudge::hidden_by(const LeasePool::Accounts::value_type& item) const {
    const auto& [process, account] = item;
    return process.start_time < forgiven_before_ ? 0 : account.unsized.unexplained();
}

/// Whether all that a process has beyond its charges may be its context, because nobody knows yet how large
/// contexts are on the GPU.
bool EscapeJudge::may_be_context(const PoolEntry& entry, const LeasePool::Account& account) const {
    return account.unsized.told_of_context() && account.unsized.known() <= contexts_.largest() &&
           contexts_.may_be_larger(entry.pool.key().gpu, entry.context.bytes());
}

}  // namespace cgpu::app
