#include "daemon/app/memory/leases.hpp"

#include <algorithm>
#include <utility>

#include "core/model/size.hpp"

namespace cgpu::app {

Leases::Leases(Outside outside, LeaseSettings settings)
    : outside_(outside),
      settings_(settings),
      left_(outside.table.saved()),
      damaged_(outside.table.damaged()),
      escapes_(outside.processes, settings.on_escape),
      looks_(outside.loop, outside.gpus, settings_.looks,
             {[this](const model::Uuid& gpu) {
                  for (auto& [key, entry] : entries_)
                      if (key.gpu == gpu) entry->pool.look_begins();
              },
              [this](const model::Uuid& gpu, const NvmlPoller::Figures& figures) {
                  return seen(gpu, figures);
              }}) {
    const auto largest = largest_context(settings_);
    for (const auto& [gpu, bytes] : outside_.table.context_sizes())
        estimates_.try_emplace(gpu, std::min(bytes, largest), largest);
    if (damaged_ || !left_.empty()) {
        settled_at_ = outside_.loop.now() + settings_.settle;
        outside_from_ = outside_.loop.now() + settings_.reconnect;
    }
}

void Leases::set_peers(LeasePeers* peers) {
    peers_ = peers;
    for (auto& [key, entry] : entries_) entry->queue.set_peers(peers);
}

void Leases::set_gpus(std::vector<model::Uuid> gpus) {
    gpus_ = std::move(gpus);
    const auto limited = [](const auto& item) { return item.second->pool.limit() != kUnlimited; };
    if (std::ranges::any_of(entries_, limited))
        std::ranges::for_each(gpus_, [this](const auto& gpu) { look(gpu); });
}

Leases::Entry* Leases::find(const PoolKey& key) {
    const auto found = entries_.find(key);
    return found == entries_.end() ? nullptr : found->second.get();
}

const Leases::Entry* Leases::find(const PoolKey& key) const {
    const auto found = entries_.find(key);
    return found == entries_.end() ? nullptr : found->second.get();
}

Leases::Entry& Leases::entry_for(const PoolKey& key) {
    auto& entry = entries_[key];
    if (!entry) {
        auto report = [this, key](const model::Process& process) {
            return peers_ == nullptr ? std::nullopt : peers_->report({key, process});
        };
        entry = std::make_unique<Entry>(key, outside_.table, std::move(report), outside_.loop, settings_);
        entry->queue.set_peers(peers_);
        if (settings_.on_escape != OnEscape::report)
            entry->queue.refuse_while([this, instance = key.instance] { return escaped(instance); });
        entry->queue.settle(settled_at_, damaged_);
    }
    return *entry;
}

Leases::Entry& Leases::foreign_entry_for(const PoolKey& key) {
    Entry& entry = entry_for(key);
    entry.foreign = true;
    entry.pool.set_limit(0);
    return entry;
}

bool Leases::isolated(const InstanceKey& instance) const {
    return std::ranges::any_of(entries_, [&](const auto& item) {
        const auto& [key, entry] = item;
        return key.instance == instance && !entry->foreign && entry->pool.limit() != kUnlimited;
    });
}

bool Leases::escaped(const InstanceKey& instance) const {
    return std::ranges::any_of(entries_, [&](const auto& item) {
        const auto& [key, entry] = item;
        return key.instance == instance && (entry->pool.unexplained() > 0 || !entry->pool.outside().empty());
    });
}

void Leases::set_instance(const model::Instance& instance) {
    const auto key = key_of(instance);
    for (const auto& quota : instance.quotas) {
        auto& entry = entry_for({key, quota.gpu});
        entry.pool.set_limit(instance.mode == model::Mode::none ? kUnlimited : quota.memory_limit.count());
        entry.queue.shrink();
        entry.queue.drive();
        // Its processes may hold memory without ever speaking to us.
        if (entry.pool.limit() != kUnlimited) looks_.look(quota.gpu);
    }
    const bool limited = isolated(key);
    for (auto& [pool, entry] : entries_)
        if (pool.instance == key && entry->foreign) entry->pool.set_limit(limited ? 0 : kUnlimited);
    if (limited) std::ranges::for_each(gpus_, [this](const auto& gpu) { look(gpu); });
    take_up(key);
}

void Leases::take_up(const InstanceKey& instance) {
    std::vector<model::Process> gone;
    std::erase_if(left_, [&](const LeaseTable::Saved& saved) {
        Entry* entry = saved.key.pool.instance == instance ? find(saved.key.pool) : nullptr;
        if (entry == nullptr) return false;
        entry->pool.take_up(saved, outside_.loop.now());
        if (!outside_.processes.alive(saved.key.process)) gone.push_back(saved.key.process);
        return true;
    });
    for (const auto& process : gone) process_exited(process);
}

void Leases::drop_instance(const model::InstanceId& id) {
    for (auto it = entries_.begin(); it != entries_.end();) {
        if (it->first.instance.id == id) {
            it->second->queue.close();
            it->second->pool.remove_all();
            it = entries_.erase(it);
        } else {
            ++it;
        }
    }
}

void Leases::drop_rest() {
    for (const auto& saved : left_) outside_.table.remove(saved.place);
    left_.clear();
}

Result<void> Leases::process_entered(const InstanceKey& instance, const model::Process& process) {
    for (auto& [key, entry] : entries_) {
        if (key.instance != instance || entry->foreign) continue;
        const bool known = entry->pool.find(process) != nullptr;
        if (auto entered = entry->pool.enter(process); !entered) return entered;
        if (known) entry->pool.connected_again(process);
        looks_.look(key.gpu);
    }
    return {};
}

Result<void> Leases::stranger_entered(const InstanceKey& instance, const model::Process& process,
                                      const model::Uuid& gpu) {
    const PoolKey here{instance, gpu};
    const Entry* known = find(here);
    if (known == nullptr || known->foreign) {
        if (!isolated(instance)) return {};
        return foreign_entry_for(here).pool.enter_stranger(process);
    }
    for (auto& [key, entry] : entries_) {
        if (key.instance != instance || entry->foreign) continue;
        if (auto entered = entry->pool.enter_stranger(process); !entered) return entered;
        looks_.look(key.gpu);
    }
    return {};
}

void Leases::process_exited(const model::Process& process) {
    for (auto& [key, entry] : entries_) {
        if (entry->pool.find(process) == nullptr) continue;
        entry->pool.exited(process, outside_.loop.now());
        entry->queue.forget(process);
        looks_.look(key.gpu);
    }
}

void Leases::ask(LeaseAsk ask, LeaseReply reply) {
    Entry* entry = find(ask.key.pool);
    if (entry == nullptr) {
        reply({0, wire::Why::not_managed, 0, 0, {}});
        return;
    }
    // The size that the process names is what it was told when it connected; another one would be a tenant's
    // word.
    if (ask.what == LeaseAsk::What::context)
        ask.bytes = entry->context.bytes() > 0 ? entry->context.bytes() : context_estimate(ask.key.pool.gpu);
    if (ask.what == LeaseAsk::What::load && ask.bytes <= kLargestAsk) ask.bytes += entry->beyond_load.bytes();
    const auto* account = entry->pool.find(ask.key.process);
    if (ask.bytes == 0 || ask.bytes > kLargestAsk || (account != nullptr && account->dying)) {
        reply({0, wire::Why::bad_request, entry->pool.limit(), entry->pool.used(), {}});
        return;
    }
    entry->queue.ask(std::move(ask), std::move(reply));
}

bool Leases::allocation_refused(const LeaseKey& key, std::uint64_t bytes) {
    Entry* entry = find(key.pool);
    if (entry == nullptr || !entry->pool.allocation_refused(key.process, bytes)) return false;
    ++entry->refused;
    return true;
}

void Leases::give(const LeaseKey& key, std::uint64_t bytes) {
    Entry* entry = find(key.pool);
    if (entry == nullptr) return;
    const auto given = entry->pool.give(key.process, bytes);
    entry->queue.gave(key.process, given);
}

void Leases::held(const LeaseKey& key, std::uint64_t bytes) {
    Entry* entry = find(key.pool);
    if (entry == nullptr) return;
    const auto* account = entry->pool.find(key.process);
    if (account != nullptr && account->lease > bytes) entry->pool.give(key.process, account->lease - bytes);
    entry->queue.drive();
}

template <class Say>
void Leases::say(const LeaseKey& key, Say say) {
    Entry* entry = find(key.pool);
    if (entry == nullptr) return;
    say(entry->pool);
    looks_.look(key.pool.gpu);
    entry->queue.drive();
}

void Leases::made(const LeaseKey& key) {
    say(key, [&](LeasePool& pool) { pool.made(key.process); });
}

void Leases::not_made(const LeaseKey& key, std::uint64_t bytes) {
    say(key, [&](LeasePool& pool) { pool.not_made(key.process, bytes); });
}

void Leases::moved(const LeaseKey& key, std::uint64_t gone) {
    say(key, [&](LeasePool& pool) { pool.moved(key.process, gone); });
}

void Leases::context_gone(const LeaseKey& key) {
    say(key, [&](LeasePool& pool) { pool.context_gone(key.process); });
}

void Leases::look(const model::Uuid& gpu) { looks_.look(gpu); }

void Leases::drive(const model::Uuid& gpu) {
    for (auto& [key, entry] : entries_)
        if (key.gpu == gpu) entry->queue.drive();
}

}  // namespace cgpu::app
