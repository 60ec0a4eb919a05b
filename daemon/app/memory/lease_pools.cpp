#include "daemon/app/memory/lease_pools.hpp"

#include <algorithm>
#include <set>

namespace cgpu::app {

PoolEntry* LeasePools::find(const PoolKey& key) {
    const auto found = entries_.find(key);
    return found == entries_.end() ? nullptr : found->second.get();
}

const PoolEntry* LeasePools::find(const PoolKey& key) const {
    const auto found = entries_.find(key);
    return found == entries_.end() ? nullptr : found->second.get();
}

PoolEntry& LeasePools::at(const PoolKey& key) {
    auto& entry = entries_[key];
    if (!entry) {
        entry = make_(key);
        on_gpus_[key.gpu].emplace(key, entry.get());
    }
    return *entry;
}

LeasePools::Range LeasePools::of(const model::InstanceId& id) const {
    const auto [first, last] = entries_.equal_range(id);
    return {first, last};
}

LeasePools::Range LeasePools::of(const InstanceKey& instance) const {
    const auto [first, last] = entries_.equal_range(instance);
    return {first, last};
}

const LeasePools::OnGpu& LeasePools::on(const model::Uuid& gpu) const {
    static const OnGpu none;
    const auto found = on_gpus_.find(gpu);
    return found == on_gpus_.end() ? none : found->second;
}

void LeasePools::drop(const model::InstanceId& id) {
    const auto its = of(id);
    for (const auto& [key, entry] : its) on_gpus_[key.gpu].erase(key);
    entries_.erase(its.begin(), its.end());
}

PoolEntry& LeasePools::foreign_at(const PoolKey& key) {
    PoolEntry& entry = at(key);
    entry.foreign = true;
    entry.pool.set_limit(0);
    return entry;
}

bool LeasePools::any_limited() const {
    return std::ranges::any_of(entries_,
                               [](const auto& item) { return item.second->pool.limit() != kUnlimited; });
}

bool LeasePools::isolated(const InstanceKey& instance) const {
    return std::ranges::any_of(of(instance), [](const auto& item) {
        return !item.second->foreign && item.second->pool.limit() != kUnlimited;
    });
}

std::vector<model::Process> LeasePools::living(const InstanceKey& instance) const {
    std::set<model::Process, ProcessLess> found;
    for (const auto& [key, entry] : of(instance))
        for (const auto& [process, account] : entry->pool.accounts())
            if (!account.dying) found.insert(process);
    return {found.begin(), found.end()};
}

bool LeasePools::holds_any(const model::InstanceId& id) const {
    return std::ranges::any_of(of(id), [](const auto& item) {
        return !item.second->pool.accounts().empty() || item.second->pool.kept().lasting;
    });
}

template <class Figure>
std::uint64_t LeasePools::sum(const model::InstanceId& id, const model::Uuid& gpu, Figure figure) const {
    std::uint64_t sum = 0;
    for (const auto& [key, entry] : of(id))
        if (key.gpu == gpu) sum += figure(*entry);
    return sum;
}

std::uint64_t LeasePools::used(const model::InstanceId& id, const model::Uuid& gpu) const {
    return sum(id, gpu, [](const PoolEntry& entry) { return entry.pool.used(); });
}

std::uint64_t LeasePools::peak(const model::InstanceId& id, const model::Uuid& gpu) {
    return sum(id, gpu, [](PoolEntry& entry) { return entry.pool.peak(); });
}

std::uint64_t LeasePools::take_peak(const model::InstanceId& id, const model::Uuid& gpu) {
    return sum(id, gpu, [](PoolEntry& entry) { return entry.pool.take_peak(); });
}

std::uint64_t LeasePools::memory_time(const model::InstanceId& id, const model::Uuid& gpu) {
    return sum(id, gpu, [](PoolEntry& entry) { return entry.pool.memory_time(); });
}

std::uint64_t LeasePools::leased(const model::InstanceId& id, const model::Uuid& gpu) const {
    return sum(id, gpu, [](const PoolEntry& entry) { return entry.pool.leased(); });
}

std::uint64_t LeasePools::unexplained(const model::InstanceId& id, const model::Uuid& gpu) const {
    return sum(id, gpu, [](const PoolEntry& entry) { return entry.pool.unexplained(); });
}

std::uint64_t LeasePools::refused(const model::InstanceId& id, const model::Uuid& gpu) const {
    return sum(id, gpu, [](const PoolEntry& entry) { return entry.refused; });
}

std::vector<model::Process> LeasePools::processes_outside(const model::InstanceId& id,
                                                          const model::Uuid& gpu) const {
    std::set<model::Process, ProcessLess> all;
    for (const auto& [key, entry] : of(id))
        if (key.gpu == gpu)
            for (const auto& process : entry->pool.outside()) all.insert(process);
    return {all.begin(), all.end()};
}

std::vector<std::int32_t> LeasePools::outside(const model::InstanceId& id, const model::Uuid& gpu) const {
    std::vector<std::int32_t> pids;
    for (const auto& process : processes_outside(id, gpu)) pids.push_back(process.pid);
    return pids;
}

std::vector<model::Uuid> LeasePools::foreign_gpus(const model::InstanceId& id) const {
    std::vector<model::Uuid> gpus;
    for (const auto& [key, entry] : of(id))
        if (entry->foreign && !std::ranges::count(gpus, key.gpu) &&
            (entry->pool.used() > 0 || !entry->pool.outside().empty()))
            gpus.push_back(key.gpu);
    return gpus;
}

std::uint64_t LeasePools::limit(const PoolKey& key) const {
    const PoolEntry* entry = find(key);
    return entry == nullptr ? 0 : entry->pool.limit();
}

std::uint64_t LeasePools::used(const PoolKey& key) const {
    const PoolEntry* entry = find(key);
    return entry == nullptr ? 0 : entry->pool.used();
}

std::vector<LeasePools::Holder> LeasePools::holders(const PoolKey& key) const {
    std::vector<Holder> found;
    const PoolEntry* entry = find(key);
    if (entry == nullptr) return found;
    for (const auto& [process, account] : entry->pool.accounts())
        if (const auto bytes = entry->pool.used(process); bytes > 0 && !account.dying)
            found.push_back({process, bytes});
    return found;
}

std::vector<LeasePools::Holder> LeasePools::holders(const model::InstanceId& id,
                                                    const model::Uuid& gpu) const {
    std::vector<Holder> found;
    for (const auto& [key, entry] : of(id))
        if (key.gpu == gpu)
            for (const Holder& holder : holders(key)) found.push_back(holder);
    return found;
}

namespace {

/// The accounts of all processes that have this pid, one after the other.
auto with_pid(const LeasePool::Accounts& accounts, std::int32_t pid) {
    const auto first = accounts.lower_bound(model::Process{pid, 0, {}});
    auto last = first;
    while (last != accounts.end() && last->first.pid == pid) ++last;
    return Neighbours(first, last);
}

}  // namespace

bool LeasePools::knows(const model::Uuid& gpu, std::int32_t pid) const {
    return std::ranges::any_of(
        on(gpu), [&](const auto& item) { return !with_pid(item.second->pool.accounts(), pid).empty(); });
}

bool LeasePools::said_hello(const model::Uuid& gpu, const model::Process& process) const {
    return std::ranges::any_of(on(gpu), [&](const auto& item) {
        const auto* account = item.second->pool.find(process);
        return account != nullptr && !account->stranger;
    });
}

bool LeasePools::pid_was_reused(const model::Uuid& gpu, const model::Process& process) const {
    return std::ranges::any_of(on(gpu), [&](const auto& item) {
        return std::ranges::any_of(
            with_pid(item.second->pool.accounts(), process.pid),
            [&](const auto& other) { return !(other.first == process) && !other.second.dying; });
    });
}

}  // namespace cgpu::app
