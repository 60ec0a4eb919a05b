// What the driver shows, compared with what is leased; and what people are shown.
#include <algorithm>

#include "daemon/app/memory/leases.hpp"

namespace cgpu::app {
namespace {

/// The driver's figure for a pid. It shows a process once per list (compute, graphics) with the same figure.
/// Figures beyond all reason mean "not available".
std::optional<std::uint64_t> figure_of(const std::vector<DriverProcess>& figures, std::int32_t pid) {
    std::optional<std::uint64_t> bytes;
    for (const auto& figure : figures)
        if (figure.pid == pid) bytes = std::max(bytes.value_or(0), figure.bytes);
    return bytes;
}

}  // namespace

void Leases::driver_figure(const model::Uuid& gpu, const std::vector<DriverProcess>& figures) {
    for (auto& [key, entry] : entries_) {
        if (key.gpu != gpu) continue;
        for (const auto& [process, account] : entry->pool.accounts()) {
            const auto bytes = figure_of(figures, process.pid);
            if (bytes.value_or(0) > kLargestAsk) continue;
            const auto context = std::max(context_estimate(gpu), entry->context.bytes());
            const auto learnt = entry->pool.figure(process, bytes, context, outside_.loop.now());
            if (learnt) learn(*entry, *learnt);
        }
    }
    drop_dead(gpu, figures);
    look_for_strangers(gpu, figures);
    judge_strangers(gpu);
    judge(gpu);
    drive(gpu);
}

void Leases::learn(Entry& entry, const LeasePool::Learnt& learnt) {
    switch (learnt.what) {
        case LeaseAsk::What::lease:
            return;
        case LeaseAsk::What::context:
            learn_context(entry, learnt.taken);
            return;
        case LeaseAsk::What::load:
            entry.beyond_load.learn(learnt.taken - std::min(learnt.asked, learnt.taken));
            return;
    }
}

void Leases::learn_context(Entry& entry, std::uint64_t bytes) {
    const PoolKey& key = entry.pool.key();
    entry.context.learn(bytes);
    const auto first = settings_.first_context_estimate;
    auto& estimate = estimates_.try_emplace(key.gpu, first, largest_context(settings_)).first->second;
    const auto before = estimate.bytes();
    estimate.learn(key.instance.id, bytes);
    if (estimate.bytes() != before) outside_.table.set_context_size({key.gpu, estimate.bytes()});
}

bool Leases::knows(const model::Uuid& gpu, std::int32_t pid) const {
    return std::any_of(entries_.begin(), entries_.end(), [&](const auto& item) {
        const auto& accounts = item.second->pool.accounts();
        return item.first.gpu == gpu && std::any_of(accounts.begin(), accounts.end(), [&](const auto& other) {
                   return other.first.pid == pid;
               });
    });
}

bool Leases::said_hello(const model::Uuid& gpu, const model::Process& process) const {
    return std::ranges::any_of(entries_, [&](const auto& item) {
        const auto* account = item.first.gpu == gpu ? item.second->pool.find(process) : nullptr;
        return account != nullptr && !account->stranger;
    });
}

void Leases::look_for_strangers(const model::Uuid& gpu, const std::vector<DriverProcess>& figures) {
    const auto now = outside_.loop.now();
    auto& last = strangers_looked_for_[gpu];
    if (peers_ == nullptr || (last != 0 && now - last < kStrangerEvery)) return;
    last = now;
    for (const auto& figure : figures)
        if (figure.bytes > 0 && !knows(gpu, figure.pid)) peers_->stranger(gpu, figure.pid);
}

/// One that is stopped may not have come to say it again; who was found before it was stopped stays found.
void Leases::judge_strangers(const model::Uuid& gpu) {
    for (auto& [key, entry] : entries_) {
        if (key.gpu != gpu) continue;
        const bool isolated = entry->pool.limit() != kUnlimited && outside_.loop.now() >= outside_from_;
        for (const auto& [process, account] : entry->pool.accounts()) {
            if (!account.stranger) continue;
            // A program that runs in an instance within an instance is the inner one's.
            const bool uses = isolated && account.unsized > 0 && !said_hello(gpu, process);
            entry->pool.set_outside(process,
                                    uses && (account.outside || !outside_.processes.stopped(process)));
        }
    }
}

void Leases::judge(const model::Uuid& gpu) {
    std::vector<Escapes::Found> found;
    for (const auto& [key, entry] : entries_) {
        if (key.gpu != gpu) continue;
        for (const auto& [process, account] : entry->pool.accounts())
            if (!account.dying && (account.unexplained.bytes() > 0 || account.outside))
                found.push_back(
                    {{key, process}, account.unexplained.bytes(), account.outside, entry->foreign});
    }
    escapes_.seen(gpu, found);
}

void Leases::drop_dead(const model::Uuid& gpu, const std::vector<DriverProcess>& figures) {
    for (auto& [key, entry] : entries_) {
        if (key.gpu != gpu) continue;
        std::vector<model::Process> gone;
        for (const auto& [process, account] : entry->pool.accounts())
            if (account.looked_at_dead && (!figure_of(figures, process.pid) || pid_was_reused(gpu, process)))
                gone.push_back(process);
        for (const auto& process : gone) entry->pool.remove(process);
        if (!gone.empty()) tell_if_gone(key.instance);
    }
}

bool Leases::pid_was_reused(const model::Uuid& gpu, const model::Process& process) const {
    return std::any_of(entries_.begin(), entries_.end(), [&](const auto& item) {
        if (item.first.gpu != gpu) return false;
        const auto& accounts = item.second->pool.accounts();
        return std::any_of(accounts.begin(), accounts.end(), [&](const auto& other) {
            return other.first.pid == process.pid && !(other.first == process) && !other.second.dying;
        });
    });
}

NvmlPoller::Next Leases::seen(const model::Uuid& gpu, const NvmlPoller::Figures& figures) {
    if (figures) {
        driver_figure(gpu, *figures);
    } else {
        // Nobody can say when the memory is free; the processes are gone, so it is as good as free.
        drop_dead(gpu, {});
        drive(gpu);
    }
    auto next = NvmlPoller::Next::rest;
    for (const auto& [key, entry] : entries_) {
        // Who holds memory past the module needn't have told anybody, and may hold it on any GPU.
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
    if (peers_ == nullptr || holds_any(instance.id)) return;
    // Later: the callee may drop the instance that is being looked at.
    outside_.loop.post([this, instance, alive = std::weak_ptr(alive_)] {
        if (!alive.expired() && peers_ != nullptr && !holds_any(instance.id)) peers_->memory_gone(instance);
    });
}

std::uint64_t Leases::used(const model::InstanceId& id, const model::Uuid& gpu) const {
    std::uint64_t sum = 0;
    for (const auto& [key, entry] : entries_)
        if (key.instance.id == id && key.gpu == gpu) sum += entry->pool.used();
    return sum;
}

std::uint64_t Leases::leased(const model::InstanceId& id, const model::Uuid& gpu) const {
    std::uint64_t sum = 0;
    for (const auto& [key, entry] : entries_)
        if (key.instance.id == id && key.gpu == gpu) sum += entry->pool.leased();
    return sum;
}

std::uint64_t Leases::unexplained(const model::InstanceId& id, const model::Uuid& gpu) const {
    std::uint64_t sum = 0;
    for (const auto& [key, entry] : entries_)
        if (key.instance.id == id && key.gpu == gpu) sum += entry->pool.unexplained();
    return sum;
}

std::uint64_t Leases::refused(const model::InstanceId& id, const model::Uuid& gpu) const {
    std::uint64_t sum = 0;
    for (const auto& [key, entry] : entries_)
        if (key.instance.id == id && key.gpu == gpu) sum += entry->refused;
    return sum;
}

std::vector<std::int32_t> Leases::outside(const model::InstanceId& id, const model::Uuid& gpu) const {
    std::vector<std::int32_t> pids;
    for (const auto& [key, entry] : entries_)
        if (key.instance.id == id && (key.gpu == gpu || entry->foreign))
            for (const auto& process : entry->pool.outside())
                if (!std::ranges::count(pids, process.pid)) pids.push_back(process.pid);
    return pids;
}

std::uint64_t Leases::limit(const PoolKey& key) const {
    const Entry* entry = find(key);
    return entry == nullptr ? 0 : entry->pool.limit();
}

std::uint64_t Leases::used(const PoolKey& key) const {
    const Entry* entry = find(key);
    return entry == nullptr ? 0 : entry->pool.used();
}

std::vector<Leases::Holder> Leases::holders(const PoolKey& key) const {
    std::vector<Holder> found;
    const Entry* entry = find(key);
    if (entry == nullptr) return found;
    for (const auto& [process, account] : entry->pool.accounts())
        if (const auto bytes = entry->pool.used(process); bytes > 0 && !account.dying)
            found.push_back({process, bytes});
    return found;
}

std::uint64_t Leases::context_estimate(const model::Uuid& gpu) const {
    const auto found = estimates_.find(gpu);
    return found == estimates_.end() ? wire::align_up(settings_.first_context_estimate)
                                     : found->second.bytes();
}

std::vector<model::Process> Leases::living(const InstanceKey& instance) const {
    std::vector<model::Process> found;
    for (const auto& [key, entry] : entries_) {
        if (key.instance != instance) continue;
        for (const auto& [process, account] : entry->pool.accounts())
            if (!account.dying && std::find(found.begin(), found.end(), process) == found.end())
                found.push_back(process);
    }
    return found;
}

bool Leases::holds_any(const model::InstanceId& id) const {
    return std::any_of(entries_.begin(), entries_.end(), [&](const auto& item) {
        return item.first.instance.id == id && !item.second->pool.accounts().empty();
    });
}

}  // namespace cgpu::app
