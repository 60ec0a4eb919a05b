#include "daemon/app/memory/leases.hpp"

#include <algorithm>
#include <utility>

#include "core/model/size.hpp"

namespace cgpu::app {
namespace {

/// The driver's figure for a pid. It shows a process once for each list (compute, graphics) with the same
/// figure. Implausibly large figures mean "not available".
std::optional<std::uint64_t> figure_of(const std::vector<DriverProcess>& figures, std::int32_t pid) {
    std::optional<std::uint64_t> bytes;
    for (const auto& figure : figures)
        if (figure.pid == pid) bytes = std::max(bytes.value_or(0), figure.bytes);
    return bytes;
}

}  // namespace

Leases::Leases(Outside outside, LeaseSettings settings)
    : outside_(outside),
      settings_(settings),
      pools_([this](const PoolKey& key) { return make_entry(key); }),
      contexts_(outside.table, settings.first_context_estimate),
      left_(outside.table.saved()),
      damaged_(outside.table.damaged()),
      escapes_(outside.processes, outside.events, settings.on_escape),
      looks_(outside.loop, outside.gpus, settings_.looks,
             {[this](const model::Uuid& gpu) {
                  for (auto& [key, entry] : pools_.all())
                      if (key.gpu == gpu) entry->pool.look_begins();
              },
              [this](const model::Uuid& gpu, const NvmlPoller::Figures& figures) {
                  return seen(gpu, figures);
              }}) {
    if (damaged_ || !left_.empty()) {
        settled_at_ = outside_.loop.now() + settings_.settle;
        outside_from_ = outside_.loop.now() + settings_.reconnect;
    }
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
    for (auto& [key, entry] : pools_.all()) entry->queue.drive();
}

void Leases::set_peers(LeasePeers* peers) {
    peers_ = peers;
    for (auto& [key, entry] : pools_.all()) entry->queue.set_peers(peers);
}

void Leases::set_gpus(std::vector<model::Uuid> gpus) {
    gpus_ = std::move(gpus);
    const auto limited = [](const auto& item) { return item.second->pool.limit() != kUnlimited; };
    if (std::ranges::any_of(pools_.all(), limited))
        std::ranges::for_each(gpus_, [this](const auto& gpu) { look(gpu); });
}

void Leases::set_instance(const model::Instance& instance) {
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
    for (auto& [pool, entry] : pools_.all())
        if (pool.instance == key && entry->foreign) entry->pool.set_limit(limited ? 0 : kUnlimited);
    if (limited) std::ranges::for_each(gpus_, [this](const auto& gpu) { look(gpu); });
    take_up(key);
}

void Leases::take_up(const InstanceKey& instance) {
    std::vector<model::Process> gone;
    std::erase_if(left_, [&](const LeaseTable::Saved& saved) {
        PoolEntry* entry = saved.key.pool.instance == instance ? pools_.find(saved.key.pool) : nullptr;
        if (entry == nullptr) return false;
        entry->pool.take_up(saved, outside_.loop.now());
        if (!outside_.processes.alive(saved.key.process)) gone.push_back(saved.key.process);
        return true;
    });
    for (const auto& process : gone) process_exited(process);
}

void Leases::drop_instance(const model::InstanceId& id) {
    for (auto it = pools_.all().begin(); it != pools_.all().end();) {
        if (it->first.instance.id == id) {
            it->second->queue.close();
            it->second->pool.remove_all();
            it = pools_.all().erase(it);
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
    for (auto& [key, entry] : pools_.all()) {
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
    const PoolEntry* known = pools_.find(here);
    if (known == nullptr || known->foreign) {
        if (!pools_.isolated(instance)) return {};
        if (auto entered = pools_.foreign_at(here).pool.enter_stranger(process); !entered) return entered;
        looks_.look(gpu);
        return {};
    }
    for (auto& [key, entry] : pools_.all()) {
        if (key.instance != instance || entry->foreign) continue;
        if (auto entered = entry->pool.enter_stranger(process); !entered) return entered;
        looks_.look(key.gpu);
    }
    return {};
}

void Leases::process_exited(const model::Process& process) {
    for (auto& [key, entry] : pools_.all()) {
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

void Leases::give(const LeaseKey& key, std::uint64_t bytes) {
    PoolEntry* entry = pools_.find(key.pool);
    if (entry == nullptr) return;
    const auto given = entry->pool.give(key.process, bytes);
    entry->queue.gave(key.process, given);
}

void Leases::held(const LeaseKey& key, std::uint64_t bytes) {
    PoolEntry* entry = pools_.find(key.pool);
    if (entry == nullptr) return;
    const auto* account = entry->pool.find(key.process);
    if (account != nullptr && account->lease > bytes) entry->pool.give(key.process, account->lease - bytes);
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
    for (auto& [key, entry] : pools_.all())
        if (key.gpu == gpu) entry->queue.drive();
}

// Comparing the driver's figures with the leases.

/// A program of an instance within an instance belongs to the inner one, to which it has connected: whatever
/// it uses is not the outer one's, too.
void Leases::release_connected_strangers(const model::Uuid& gpu) {
    for (auto& [key, entry] : pools_.all()) {
        if (key.gpu != gpu) continue;
        std::vector<model::Process> connected;
        for (const auto& [process, account] : entry->pool.accounts())
            if (account.stranger && pools_.said_hello(gpu, process)) connected.push_back(process);
        for (const auto& process : connected) entry->pool.remove(process);
        if (!connected.empty()) tell_if_gone(key.instance);
    }
}

void Leases::driver_figure(const model::Uuid& gpu, const std::vector<DriverProcess>& figures) {
    release_connected_strangers(gpu);
    for (auto& [key, entry] : pools_.all()) {
        if (key.gpu != gpu) continue;
        for (const auto& [process, account] : entry->pool.accounts()) {
            const auto bytes = figure_of(figures, process.pid);
            if (bytes.value_or(0) > kLargestAsk) continue;
            const auto context = std::max(contexts_.estimate(gpu), entry->context.bytes());
            const auto learnt = entry->pool.figure(process, bytes, context, outside_.loop.now());
            if (learnt) learn(*entry, *learnt);
        }
    }
    drop_dead(gpu, figures);
    look_for_strangers(gpu, figures);
    judge_strangers(gpu);
    escapes_.seen(gpu, judge_.found_on(gpu));
    drive(gpu);
}

void Leases::learn(PoolEntry& entry, const LeasePool::Learnt& learnt) {
    switch (learnt.what) {
        case LeaseAsk::What::lease:
        case LeaseAsk::What::usage:
            return;
        case LeaseAsk::What::context:
            entry.context.learn(learnt.taken);
            contexts_.learn(entry.pool.key().gpu, entry.pool.key().instance.id, learnt.taken);
            return;
        case LeaseAsk::What::load:
            entry.beyond_load.learn(learnt.taken - std::min(learnt.asked, learnt.taken));
            return;
    }
}

void Leases::look_for_strangers(const model::Uuid& gpu, const std::vector<DriverProcess>& figures) {
    const auto now = outside_.loop.now();
    auto& last = strangers_looked_for_[gpu];
    if (peers_ == nullptr || (last != 0 && now - last < kStrangerEvery)) return;
    last = now;
    for (const auto& figure : figures)
        if (figure.bytes > 0 && !pools_.knows(gpu, figure.pid)) peers_->stranger(gpu, figure.pid);
}

/// A stopped process may not have had a chance to reconnect; one that was found before it was stopped stays
/// found.
void Leases::judge_strangers(const model::Uuid& gpu) {
    for (auto& [key, entry] : pools_.all()) {
        if (key.gpu != gpu) continue;
        const bool isolated = entry->pool.limit() != kUnlimited && outside_.loop.now() >= outside_from_;
        for (const auto& [process, account] : entry->pool.accounts()) {
            if (!account.stranger) continue;
            const bool uses = isolated && account.unsized.known() > 0;
            entry->pool.set_outside(process,
                                    uses && (account.outside || !outside_.processes.stopped(process)));
        }
    }
}

void Leases::drop_dead(const model::Uuid& gpu, const std::vector<DriverProcess>& figures) {
    for (auto& [key, entry] : pools_.all()) {
        if (key.gpu != gpu) continue;
        std::vector<model::Process> gone;
        for (const auto& [process, account] : entry->pool.accounts())
            if (account.looked_at_dead &&
                (!figure_of(figures, process.pid) || pools_.pid_was_reused(gpu, process)))
                gone.push_back(process);
        for (const auto& process : gone) entry->pool.remove(process);
        if (!gone.empty()) tell_if_gone(key.instance);
    }
}

NvmlPoller::Next Leases::seen(const model::Uuid& gpu, const NvmlPoller::Figures& figures) {
    if (figures) {
        driver_figure(gpu, *figures);
    } else {
        // It is unknown when the memory is free; the processes have ended, so it counts as free.
        drop_dead(gpu, {});
        drive(gpu);
    }
    auto next = NvmlPoller::Next::rest;
    for (const auto& [key, entry] : pools_.all()) {
        // A process that bypasses the module need not have connected to cgpud, and may use any GPU.
        if (entry->pool.limit() != kUnlimited) next = NvmlPoller::Next::later;
        if (key.gpu != gpu) continue;
        if (entry->pool.unconfirmed()) return NvmlPoller::Next::soon;
        for (const auto& [process, account] : entry->pool.accounts()) {
            if (account.dying) return NvmlPoller::Next::soon;
            next = NvmlPoller::Next::later;
        }
    }
    return next;
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
