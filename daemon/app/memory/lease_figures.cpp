// Leases, compared with the driver's figures.
#include <algorithm>
#include <map>

#include "daemon/app/memory/leases.hpp"

namespace cgpu::app {
namespace {

/// The driver's figure of each pid. It shows a process once for each list (compute, graphics) with the same
/// figure. Implausibly large figures mean "not available".
FiguresByPid by_pid(const std::vector<DriverProcess>& figures) {
    FiguresByPid all;
    for (const auto& figure : figures) {
        auto& bytes = all[figure.pid];
        bytes = std::max(bytes, figure.bytes);
    }
    return all;
}

std::optional<std::uint64_t> figure_of(const FiguresByPid& figures, std::int32_t pid) {
    const auto found = figures.find(pid);
    return found == figures.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

/// `looked`: the figures that are being judged are newer.
void Leases::left_exports(PoolEntry& entry, std::uint64_t bytes, bool looked) {
    if (bytes == 0 || entry.pool.limit() == kUnlimited) return;
    const auto& key = entry.pool.key();
    kept_[key.gpu].freed(key, bytes, looked, outside_.loop.now());
    show_kept(entry);
    if (!looked) looks_.look(key.gpu);
}

void Leases::show_kept(PoolEntry& entry) {
    const auto& key = entry.pool.key();
    const KeptExports& on_gpu = kept_[key.gpu];
    const auto now = on_gpu.of(key);
    const bool lasting = now.unsure > 0 || (now.bytes > 0 && !on_gpu.negligible());
    const LeasePool::Kept shown{now.bytes, lasting};
    if (shown == entry.pool.kept()) return;
    entry.pool.set_kept(shown);
    if (!lasting) tell_if_gone(key.instance);
}

/// Each process with what is charged for it, if the driver shows more. What is only set aside doesn't count,
/// nor what was charged after the look at the driver. Memory that one process has opened and the other has
/// freed then counts as exported until it is charged to the former.
DriverFigures Leases::charged_figures(const model::Uuid& gpu, DriverFigures figures) const {
    std::map<std::int32_t, std::uint64_t> charged;
    for (const auto& [key, entry] : pools_.on(gpu)) {
        // Without a limit nothing is charged.
        if (entry->pool.limit() == kUnlimited) continue;
        for (const auto& [process, account] : entry->pool.accounts())
            charged[process.pid] += entry->pool.charged_since_look(process) + account.unsized.known();
    }
    for (auto& figure : figures.processes)
        if (const auto known = charged.find(figure.pid); known != charged.end())
            figure.bytes = std::min(figure.bytes, known->second);
    return figures;
}

void Leases::judge_kept(const model::Uuid& gpu, const DriverFigures& figures) {
    kept_[gpu].seen(charged_figures(gpu, figures), outside_.loop.now());
    std::vector<Escapes::KeptFound> found;
    for (const auto& [key, entry] : pools_.on(gpu)) {
        show_kept(*entry);
        const auto kept = kept_[gpu].of(key);
        if (kept.bytes > kept.unsure && !kept_[gpu].negligible())
            found.push_back({key, kept.bytes - kept.unsure});
    }
    escapes_.kept(gpu, found);
}

/// A program of an instance within an instance belongs to the inner one, to which it has connected: whatever
/// it uses is not the outer one's, too.
void Leases::release_connected_strangers(const model::Uuid& gpu) {
    for (const auto& [key, entry] : pools_.on(gpu)) {
        std::vector<model::Process> connected;
        for (const auto& [process, account] : entry->pool.accounts())
            if (account.stranger && pools_.said_hello(gpu, process)) connected.push_back(process);
        for (const auto& process : connected) entry->pool.remove(process);
        if (!connected.empty()) tell_if_gone(key.instance);
    }
}

void Leases::driver_figure(const model::Uuid& gpu, const DriverFigures& driver) {
    const auto figures = by_pid(driver.processes);
    release_connected_strangers(gpu);
    for (const auto& [key, entry] : pools_.on(gpu)) {
        for (const auto& [process, account] : entry->pool.accounts()) {
            const auto bytes = figure_of(figures, process.pid);
            if (bytes.value_or(0) > kLargestAsk) continue;
            const auto context = std::max(contexts_.estimate(gpu), entry->context.bytes());
            const auto learnt = entry->pool.figure(process, bytes, context, outside_.loop.now());
            if (learnt) learn(*entry, *learnt);
        }
    }
    drop_dead(gpu, figures);
    judge_kept(gpu, driver);
    look_for_strangers(gpu, driver.processes);
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
    for (const auto& [key, entry] : pools_.on(gpu)) {
        const bool isolated = entry->pool.limit() != kUnlimited && outside_.loop.now() >= outside_from_;
        for (const auto& [process, account] : entry->pool.accounts()) {
            if (!account.stranger) continue;
            const bool uses = isolated && account.unsized.known() > 0;
            entry->pool.set_outside(process,
                                    uses && (account.outside || !outside_.processes.stopped(process)));
        }
    }
}

void Leases::drop_dead(const model::Uuid& gpu, const FiguresByPid& figures) {
    for (const auto& [key, entry] : pools_.on(gpu)) {
        std::vector<model::Process> gone;
        for (const auto& [process, account] : entry->pool.accounts())
            if (account.looked_at_dead &&
                (!figure_of(figures, process.pid) || pools_.pid_was_reused(gpu, process)))
                gone.push_back(process);
        for (const auto& process : gone) {
            left_exports(*entry, entry->pool.find(process)->exports(), true);
            entry->pool.remove(process);
        }
        if (!gone.empty()) tell_if_gone(key.instance);
    }
}

NvmlPoller::Next Leases::seen(const model::Uuid& gpu, const NvmlPoller::Figures& figures) {
    if (figures) {
        driver_figure(gpu, *figures);
    } else {
        // It is unknown when the memory is free; the processes have ended, so it counts as free.
        drop_dead(gpu, {});
        kept_[gpu].driver_failed();
        for (const auto& [key, entry] : pools_.on(gpu)) show_kept(*entry);
        drive(gpu);
    }
    if (kept_[gpu].any_unsure()) return NvmlPoller::Next::soon;
    // A process that bypasses the module need not have connected to cgpud, and may use any GPU.
    auto next = pools_.any_limited() ? NvmlPoller::Next::later : NvmlPoller::Next::rest;
    for (const auto& [key, entry] : pools_.on(gpu)) {
        if (entry->pool.unconfirmed()) return NvmlPoller::Next::soon;
        for (const auto& [process, account] : entry->pool.accounts()) {
            if (account.dying) return NvmlPoller::Next::soon;
            next = NvmlPoller::Next::later;
        }
    }
    return next;
}

}  // namespace cgpu::app
