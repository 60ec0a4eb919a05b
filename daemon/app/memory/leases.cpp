#include "daemon/app/memory/leases.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "daemon/app/ports/log.hpp"

namespace cgpu::app {
Leases::Leases(Outside outside, LeaseSettings settings)
    : outside_(outside),
      settings_(settings),
      pools_([this](const PoolKey& key) { return make_entry(key); }),
      contexts_(outside.table, settings.first_context_estimate),
      damaged_(outside.table.damaged()),
      escapes_(outside.processes, outside.events, settings.on_escape),
      looks_(outside.loop, outside.gpus, settings_.looks,
             {[this](const model::Uuid& gpu) {
                  for (const auto& [key, entry] : pools_.on(gpu)) entry->pool.look_begins();
                  kept_[gpu].look_begins();
              },
              [this](const model::Uuid& gpu, const NvmlPoller::Figures& figures) {
                  return seen(gpu, figures);
              }}) {
    for (const auto& saved : outside.table.saved()) left_.emplace(saved.key.pool.instance, saved);
    if (damaged_) leases_are_lost();
    if (!left_.empty()) wait_for_processes();
}

void Leases::wait_for_processes() {
    settled_at_ = outside_.loop.now() + settings_.settle;
    outside_from_ = outside_.loop.now() + settings_.reconnect;
}

void Leases::leases_are_lost() {
    damaged_ = true;
    wait_for_processes();
    if (const auto self = outside_.processes.identify(::getpid()))
        judge_.forgive_older_than(self->start_time);
}

std::unique_ptr<PoolEntry> Leases::make_entry(const PoolKey& key) {
    auto report = [this, key](const model::Process& process) {
        return peers_ == nullptr ? std::nullopt : peers_->report({key, process});
    };
    auto entry = std::make_unique<PoolEntry>(key, outside_.table, std::move(report), outside_.loop,
                                             settings_.recall, settings_.unexplained, contexts_.largest());
    entry->queue.set_peers(peers_);
    if (settings_.on_escape != OnEscape::report)
        entry->queue.refuse_while([this, instance = key.instance] { return judge_.refuses(instance); });
    entry->queue.hold_while([this] { return waiting_for_driver_; });
    entry->queue.know_contexts([this, gpu = key.gpu, made = entry.get()] {
        return made->context.bytes() > 0 || contexts_.measured(gpu);
    });
    entry->queue.look_with([this, gpu = key.gpu] { looks_.look(gpu); });
    entry->queue.settle(settled_at_, damaged_);
    return entry;
}

void Leases::wait_for_driver() { waiting_for_driver_ = true; }

void Leases::driver_answered() {
    waiting_for_driver_ = false;
    for (const auto& [key, entry] : pools_.all()) entry->queue.drive();
}

void Leases::set_peers(LeasePeers* peers) {
    peers_ = peers;
    for (const auto& [key, entry] : pools_.all()) entry->queue.set_peers(peers);
}

void Leases::set_gpus(std::vector<model::Uuid> gpus) {
    gpus_ = std::move(gpus);
    if (pools_.any_limited()) std::ranges::for_each(gpus_, [this](const auto& gpu) { look(gpu); });
}

void Leases::set_instance(const model::Instance& instance) {
    // An earlier daemon had it: its processes haven't connected again yet, whatever the table says.
    if (waiting_for_driver_ && instance.attached && !std::exchange(taken_over_, true)) {
        wait_for_processes();
        if (outside_.table.is_new() && !damaged_) {
            log::warn(
                "leases: there was no lease file, and instances run. Memory is counted by the driver's "
                "figures until processes end.");
            leases_are_lost();
        }
    }
    const auto key = key_of(instance);
    for (const auto& quota : instance.quotas) {
        auto& entry = pools_.at({key, quota.gpu});
        entry.pool.set_limit(instance.mode == model::Mode::none ? kUnlimited : quota.memory_limit.count());
        entry.queue.shrink();
        entry.queue.drive();
        // Its processes may hold memory without ever connecting to cgpud.
        if (entry.pool.limit() != kUnlimited) looks_.look(quota.gpu);
    }
    const bool limited = pools_.isolated(key);
    for (const auto& [pool, entry] : pools_.of(key))
        if (entry->foreign) entry->pool.set_limit(limited ? 0 : kUnlimited);
    // Its processes may use any GPU.
    if (limited) std::ranges::for_each(gpus_, [this](const auto& gpu) { looks_.keep_looking(gpu); });
    take_up(key);
}

void Leases::take_up(const InstanceKey& instance) {
    std::vector<model::Process> gone;
    const auto [first, last] = left_.equal_range(instance);
    for (auto its = first; its != last;) {
        const LeaseTable::Saved& saved = its->second;
        PoolEntry* entry = pools_.find(saved.key.pool);
        if (entry == nullptr) {
            ++its;
            continue;
        }
        entry->pool.take_up(saved, outside_.loop.now());
        if (saved.key.process == kNobody)
            kept_[saved.key.pool.gpu].take_up(saved.key.pool, saved.amounts.lease);
        else if (!outside_.processes.alive(saved.key.process))
            gone.push_back(saved.key.process);
        its = left_.erase(its);
    }
    for (const auto& process : gone) process_exited(process);
}

void Leases::drop_instance(const model::InstanceId& id) {
    for (const auto& [key, entry] : pools_.of(id)) {
        entry->queue.close();
        entry->pool.remove_all();
        kept_[key.gpu].forget(key);
    }
    pools_.drop(id);
}

void Leases::drop_rest(const std::vector<InstanceKey>& except) {
    std::erase_if(left_, [&](const auto& item) {
        if (std::ranges::find(except, item.first) != except.end()) return false;
        outside_.table.remove(item.second.place);
        return true;
    });
}

Result<void> Leases::process_entered(const InstanceKey& instance, const model::Process& process) {
    for (const auto& [key, entry] : pools_.of(instance)) {
        if (entry->foreign) continue;
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
    const PoolEntry* known = pools_.find(here);
    if (known == nullptr || known->foreign) {
        if (!pools_.isolated(instance)) return {};
        if (auto entered = pools_.foreign_at(here).pool.enter_stranger(process); !entered) return entered;
        looks_.look(gpu);
        return {};
    }
    for (const auto& [key, entry] : pools_.of(instance)) {
        if (entry->foreign) continue;
        if (auto entered = entry->pool.enter_stranger(process); !entered) return entered;
        looks_.look(key.gpu);
    }
    return {};
}

void Leases::process_exited(const model::Process& process) {
    for (const auto& [key, entry] : pools_.all()) {
        if (entry->pool.find(process) == nullptr) continue;
        entry->pool.exited(process, outside_.loop.now());
        entry->queue.forget(process);
        looks_.look(key.gpu);
    }
}

void Leases::ask(LeaseAsk ask, LeaseReply reply) {
    PoolEntry* entry = pools_.find(ask.key.pool);
    if (entry == nullptr) {
        reply({0, wire::Why::not_managed, 0, 0, {}});
        return;
    }
    // The process sends the size that it got when it connected; a different size would be a tenant's claim.
    if (ask.what == LeaseAsk::What::context)
        ask.bytes =
            entry->context.bytes() > 0 ? entry->context.bytes() : contexts_.estimate(ask.key.pool.gpu);
    if (ask.what == LeaseAsk::What::load && ask.bytes <= kLargestAsk) {
        if (ask.bytes > 0) ask.bytes += entry->beyond_load.bytes();
        ask.spare = settings_.load_spare;
    }
    const auto* account = entry->pool.find(ask.key.process);
    const bool empty =
        ask.bytes == 0 && ask.what != LeaseAsk::What::usage && ask.what != LeaseAsk::What::load;
    if (empty || ask.bytes > kLargestAsk || (account != nullptr && account->dying)) {
        reply({0, wire::Why::bad_request, entry->pool.limit(), entry->pool.used(), {}});
        return;
    }
    entry->queue.ask(std::move(ask), std::move(reply));
}

bool Leases::awaits_context(const LeaseKey& key) const {
    const PoolEntry* entry = pools_.find(key.pool);
    return entry != nullptr && entry->queue.awaits_context(key.process);
}

bool Leases::allocation_refused(const LeaseKey& key, std::uint64_t bytes) {
    PoolEntry* entry = pools_.find(key.pool);
    if (entry == nullptr || !entry->pool.allocation_refused(key.process, bytes)) return false;
    ++entry->refused;
    return true;
}

void Leases::give(const LeaseKey& key, std::uint64_t bytes, bool exported) {
    PoolEntry* entry = pools_.find(key.pool);
    if (entry == nullptr) return;
    const auto given = entry->pool.give(key.process, bytes, exported);
    left_exports(*entry, given.exported, false);
    entry->queue.gave(key.process, given.bytes);
}

void Leases::exported(const LeaseKey& key, std::uint64_t bytes) {
    if (PoolEntry* entry = pools_.find(key.pool)) entry->pool.exported(key.process, bytes);
}

void Leases::held(const LeaseKey& key, std::uint64_t bytes) {
    PoolEntry* entry = pools_.find(key.pool);
    if (entry == nullptr) return;
    const auto* account = entry->pool.find(key.process);
    if (account != nullptr && account->lease > bytes)
        left_exports(*entry, entry->pool.give(key.process, account->lease - bytes).exported, false);
    entry->queue.drive();
}

template <class Say>
void Leases::say(const LeaseKey& key, Say say) {
    PoolEntry* entry = pools_.find(key.pool);
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

void Leases::opened_shared(const LeaseKey& key, std::uint64_t bytes) {
    if (PoolEntry* entry = pools_.find(key.pool)) entry->pool.opened_shared(key.process, bytes);
}

void Leases::look(const model::Uuid& gpu) { looks_.look(gpu); }

void Leases::drive(const model::Uuid& gpu) {
    for (const auto& [key, entry] : pools_.on(gpu)) entry->queue.drive();
}

void Leases::tell_if_gone(const InstanceKey& instance) {
    if (peers_ == nullptr || pools_.holds_any(instance.id)) return;
    // Later, because the callee may drop the instance that is being examined.
    outside_.loop.post([this, instance, alive = std::weak_ptr(alive_)] {
        if (!alive.expired() && peers_ != nullptr && !pools_.holds_any(instance.id))
            peers_->memory_gone(instance);
    });
}

}  // namespace cgpu::app
