#include "daemon/app/memory/lease_pools.hpp"

#include <algorithm>

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
    if (!entry) entry = make_(key);
    return *entry;
}

PoolEntry& LeasePools::foreign_at(const PoolKey& key) {
    PoolEntry& entry = at(key);
    entry.foreign = true;
    entry.pool.set_limit(0);
    return entry;
}

bool LeasePools::isolated(const InstanceKey& instance) const {
    return std::ranges::any_of(entries_, [&](const auto& item) {
        const auto& [key, entry] = item;
        return key.instance == instance && !entry->foreign && entry->pool.limit() != kUnlimited;
    });
}

std::vector<model::Process> LeasePools::living(const InstanceKey& instance) const {
    std::vector<model::Process> found;
    for (const auto& [key, entry] : entries_) {
        if (key.instance != instance) continue;
        for (const auto& [process, account] : entry->pool.accounts())
            if (!account.dying && std::find(found.begin(), found.end(), process) == found.end())
                found.push_back(process);
    }
    return found;
}

bool LeasePools::holds_any(const model::InstanceId& id) const {
    return std::any_of(entries_.begin(), entries_.end(), [&](const auto& item) {
        return item.first.instance.id == id &&
               (!item.second->pool.accounts().empty() || item.second->pool.kept().lasting);
    });
}

std::uint64_t LeasePools::sum(const model::InstanceId& id, const model::Uuid& gpu,
                              const Figure& figure) const {
    std::uint64_t sum = 0;
    for (const auto& [key, entry] : entries_)
        if (key.instance.id == id && key.gpu == gpu) sum += figure(*entry);
    return sum;
}

std::uint64_t LeasePools::used(const model::InstanceId& id, const model::Uuid& gpu) const {
    return sum(id, gpu, [](const PoolEntry& entry) { return entry.pool.used(); });
}

std::uint64_t LeasePools::peak(const model::InstanceId& id, const model::Uuid& gpu) {
    std::uint64_t sum = 0;
    for (auto& [key, entry] : entries_)
        if (key.instance.id == id && key.gpu == gpu) sum += entry->pool.peak();
    return sum;
}

std::uint64_t LeasePools::take_peak(const model::InstanceId& id, const model::Uuid& gpu) {
    std::uint64_t sum = 0;
    for (auto& [key, entry] : entries_)
        if (key.instance.id == id && key.gpu == gpu) sum += entry->pool.take_peak();
    return sum;
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
    std::vector<model::Process> all;
    for (const auto& [key, entry] : entries_)
        if (key.instance.id == id && key.gpu == gpu)
            for (const auto& process : entry->pool.outside())
                if (!std::ranges::count(all, process)) all.push_back(process);
    return all;
}

std::vector<std::int32_t> LeasePools::outside(const model::InstanceId& id, const model::Uuid& gpu) const {
    std::vector<std::int32_t> pids;
    for (const auto& process : processes_outside(id, gpu)) pids.push_back(process.pid);
    return pids;
}

std::vector<model::Uuid> LeasePools::foreign_gpus(const model::InstanceId& id) const {
    std::vector<model::Uuid> gpus;
    for (const auto& [key, entry] : entries_)
        if (key.instance.id == id && entry->foreign && !std::ranges::count(gpus, key.gpu) &&
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
    for (const auto& [key, entry] : entries_)
        if (key.instance.id == id && key.gpu == gpu)
            for (const Holder& holder : holders(key)) found.push_back(holder);
    return found;
}

bool LeasePools::knows(const model::Uuid& gpu, std::int32_t pid) const {
    return std::any_of(entries_.begin(), entries_.end(), [&](const auto& item) {
        const auto& accounts = item.second->pool.accounts();
        return item.first.gpu == gpu && std::any_of(accounts.begin(), accounts.end(), [&](const auto& other) {
                   return other.first.pid == pid;
               });
    });
}

bool LeasePools::said_hello(const model::Uuid& gpu, const model::Process& process) const {
    return std::ranges::any_of(entries_, [&](const auto& item) {
        const auto* account = item.first.gpu == gpu ? item.second->pool.find(process) : nullptr;
        return account != nullptr && !account->stranger;
    });
}

bool LeasePools::pid_was_reused(const model::Uuid& gpu, const model::Process& process) const {
    return std::any_of(entries_.begin(), entries_.end(), [&](const auto& item) {
        if (item.first.gpu != gpu) return false;
        const auto& accounts = item.second->pool.accounts();
        return std::any_of(accounts.begin(), accounts.end(), [&](const auto& other) {
            return other.first.pid == process.pid && !(other.first == process) && !other.second.dying;
        });
    });
}

}  // namespace cgpu::app
