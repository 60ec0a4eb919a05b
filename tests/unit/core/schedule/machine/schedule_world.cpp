#include "tests/unit/core/schedule/machine/schedule_world.hpp"

#include <algorithm>
#include <cmath>

namespace cgpu::schedule::sim {

World::World(const Settings& settings, const Latency& latency, std::size_t gpus) : latency_(latency) {
    for (std::size_t g = 0; g < gpus; ++g) {
        sites_.push_back(std::make_unique<Site>(settings));
        step_by(g, 0);
    }
}

std::size_t World::add(const Tenant& tenant, std::size_t gpu) {
    Site& site = *sites_[gpu];
    std::size_t slot = 0;
    while (!site.instances[slot].processes.empty()) ++slot;
    Instance& instance = site.instances[slot];
    instance.alive = true;
    instance.job = tenant.job;
    instance.silent = tenant.silent;
    instance.work = tenant.work;
    instance.as = tenant;
    instance.lie = tenant.lie;
    instance.checks.resize(static_cast<std::size_t>(tenant.processes));
    instance.served_at_mark.assign(static_cast<std::size_t>(tenant.processes), 0);
    for (std::size_t p = 0; p < static_cast<std::size_t>(tenant.processes); ++p) {
        instance.processes.push_back(std::make_unique<Process>(site.gpu, tenant.work, random_));
        instance.wake_pending.push_back(false);
        site.owner.emplace_back(slot, p);
        push(now_ + static_cast<Nanos>(random_() % 100'000), What::run, gpu, slot, p);
    }
    site.slicer.join(slot, tenant.weight, tenant.high_priority, tenant.ask);
    poke(gpu);
    return slot;
}

void World::kill(std::size_t slot, std::size_t gpu) {
    Site& site = *sites_[gpu];
    site.instances[slot].alive = false;
    for (const auto& process : site.instances[slot].processes) site.gpu.kill(process->context());
    site.slicer.leave(slot);
    poke(gpu);
}

void World::replace(std::size_t slot, std::size_t process, std::size_t gpu) {
    Site& site = *sites_[gpu];
    Instance& instance = site.instances[slot];
    auto& old = instance.processes[process];
    site.gpu.kill(old->context());
    instance.gone_used += old->reading(now_).used;
    old = std::make_unique<Process>(site.gpu, instance.work, random_);
    instance.checks[process] = {};
    instance.served_at_mark[process] = 0;
    site.owner.emplace_back(slot, process);
    push(now_, What::run, gpu, slot, process);
    poke(gpu);
}

void World::freeze(std::size_t slot, std::size_t gpu) { sites_[gpu]->instances[slot].frozen = true; }

void World::restart(Nanos gone, std::size_t gpu) {
    Site& site = *sites_[gpu];
    site.served = false;
    ++site.step_generation;
    site.step_at = kForever;
    GateOrders free;
    free.fill({GateOrder::State::free, kForever, false, true});
    apply(gpu, free);
    run_for(gone);
    site.served = true;
    site.slicer = Slicer(site.settings);
    for (std::size_t i = 0; i < kSlots; ++i) {
        Instance& instance = site.instances[i];
        if (!instance.alive) continue;
        instance.unsettled = true;
        instance.checks.assign(instance.checks.size(), {});
        site.slicer.join(i, instance.as.weight, instance.as.high_priority, instance.as.ask);
    }
    poke(gpu);
}

void World::poke(std::size_t gpu) { step_by(gpu, now_ + late()); }

Nanos World::late() {
    Nanos d = latency_.base;
    const double u = std::uniform_real_distribution<>(0, 1)(random_);
    d += static_cast<Nanos>(-std::log(1 - u) * static_cast<double>(latency_.exponential));
    if (latency_.tail_per_myriad > 0 && static_cast<int>(random_() % 10'000) < latency_.tail_per_myriad) {
        d += latency_.tail;
    }
    return d;
}

void World::push(Nanos at, What what, std::size_t gpu, std::size_t slot, std::size_t process,
                 std::uint64_t generation) {
    events_.push({at, order_++, what, gpu, slot, process, generation});
}

void World::step_by(std::size_t gpu, Nanos at) {
    Site& site = *sites_[gpu];
    if (at >= site.step_at || !site.served) return;
    site.step_at = at;
    push(at, What::step, gpu, 0, 0, ++site.step_generation);
}

namespace {
/// As the daemon does.
void bound(Reading& r) {
    for (Nanos* each : {&r.used, &r.waited}) *each = std::clamp<Nanos>(*each, 0, Nanos{1} << 58);
    r.in_flight_estimate = std::clamp<Nanos>(r.in_flight_estimate, 0, 10 * kSecond);
    r.remaining = std::clamp<Nanos>(r.remaining, 0, r.in_flight_estimate);
    r.usual_gap = std::clamp<Nanos>(r.usual_gap, 0, kSecond);
}
}  // namespace

Reading World::reading(Instance& instance, bool open) const {
    Reading sum;
    sum.used = instance.gone_used;
    int launching = 0;
    int active = 0;
    int stale = 0;
    for (std::size_t p = 0; p < instance.processes.size(); ++p) {
        const auto& process = instance.processes[p];
        Tenant::Report r{process->reading(now_), process->updated(), 1};
        if (instance.lie) instance.lie(now_, open, p, r);
        if (!instance.checks[p].plausible({r.used, r.in_flight_estimate, r.wants, r.updated}, now_))
            sum.doubtful = true;
        if (instance.lie) bound(r);
        if (r.launches > 0 || r.in_flight_estimate > 0) ++launching;
        // The page of an honest process is renewed as long as it has work.
        const bool renewed = !instance.lie && !instance.frozen && !instance.silent;
        const Nanos written = renewed ? now_ : std::clamp<Nanos>(r.updated, 0, now_);
        active += r.in_flight_estimate > 0 ? 1 : 0;
        if (r.in_flight_estimate > 0 && now_ > written + r.in_flight_estimate + 100 * kMilli) {
            r.in_flight_estimate = r.remaining = 0;
            ++stale;
        }
        sum.wants = sum.wants || r.wants;
        sum.syncing = sum.syncing || r.syncing;
        sum.unmeasured = sum.unmeasured || r.unmeasured;
        sum.used += r.used;
        sum.waited += r.waited;
        sum.in_flight_estimate += r.in_flight_estimate;
        sum.remaining += r.remaining;
        sum.usual_gap = std::max(sum.usual_gap, r.usual_gap);
    }
    sum.alone_process = launching <= 1;
    sum.stale = active > 0 && stale == active;
    instance.unsettled = instance.unsettled && sum.in_flight_estimate > 0;
    sum.unsettled = instance.unsettled;
    return sum;
}

GangStates World::gangs(std::size_t gpu) const {
    GangStates out{};
    for (std::size_t i = 0; i < kSlots; ++i) {
        const Instance& own = sites_[gpu]->instances[i];
        if (!own.alive || own.job < 0) continue;
        for (std::size_t g = 0; g < sites_.size(); ++g) {
            for (std::size_t j = 0; j < kSlots && g != gpu; ++j) {
                const Instance& other = sites_[g]->instances[j];
                if (!other.alive || other.job != own.job) continue;
                out[i].hear(sites_[g]->slicer.tell(j), g < gpu);
            }
        }
    }
    return out;
}

void World::step(std::size_t gpu) {
    Site& site = *sites_[gpu];
    site.step_at = kForever;
    ++site.steps;
    Readings readings;
    for (std::size_t i = 0; i < kSlots; ++i) {
        if (site.instances[i].alive)
            readings[i] = reading(site.instances[i], site.gates[i].state == GateOrder::State::open);
    }
    site.gangs = gangs(gpu);
    const Decision decision = site.slicer.step(now_, readings, site.gangs);
    apply(gpu, decision.gates);
    if (site.watcher) site.watcher(now_, readings, decision);
    site.wake_at = decision.wake_at;
    if (decision.wake_at != kForever) step_by(gpu, decision.wake_at + late());
    // One thread steps all GPUs; an earlier GPU receives a later one's report in the next round.
    for (std::size_t g = 0; g < sites_.size(); ++g) {
        if (g != gpu && gangs(g) != sites_[g]->gangs) step_by(g, now_ + (g < gpu ? kMicro : 0));
    }
}

void World::apply(std::size_t gpu, const GateOrders& gates) {
    Site& site = *sites_[gpu];
    site.gates = gates;
    for (std::size_t i = 0; i < kSlots; ++i) {
        Instance& instance = site.instances[i];
        if (!instance.alive || instance.frozen) continue;
        for (std::size_t p = 0; p < instance.processes.size(); ++p) {
            Process::Todo todo;
            if (instance.processes[p]->gate_changed(gates[i], todo) && !instance.wake_pending[p]) {
                instance.wake_pending[p] = true;
                push(now_ + late(), What::gate_seen, gpu, i, p);
            }
            act(todo, gpu, i, p);
        }
    }
}

void World::act(const Process::Todo& todo, std::size_t gpu, std::size_t slot, std::size_t process) {
    if (todo.run_after) push(now_ + *todo.run_after, What::run, gpu, slot, process);
    if (todo.ring) step_by(gpu, now_ + late());
    if (todo.reported) push(now_ + kMicro, What::completed, gpu, slot, process);
}

void World::handle(const Event& event) {
    Site& site = *sites_[event.gpu];
    if (event.what == What::step) {
        if (event.generation == site.step_generation) step(event.gpu);
        return;
    }
    Instance& instance = site.instances[event.slot];
    if (!instance.alive || instance.frozen) return;
    Process& process = *instance.processes[event.process];
    const GateOrder& gate = site.gates[event.slot];
    if (event.what == What::completed) {
        act(process.completed(now_, gate), event.gpu, event.slot, event.process);
        return;
    }
    if (event.what == What::gate_seen) instance.wake_pending[event.process] = false;
    Nanos reached = 0;
    for (const auto& p : instance.processes) reached += p->reached();
    act(process.run(now_, gate, reached), event.gpu, event.slot, event.process);
}

void World::advance_gpus(Nanos to) {
    // Kernels that wait for each other across GPUs read each other's state: both advance in small steps.
    const Nanos stride = sites_.size() > 1 ? 20 * kMicro : kForever;
    while (now_ < to) {
        Nanos until = stride == kForever ? to : std::min(to, now_ + stride);
        if (!events_.empty()) until = std::min(until, std::max(now_, events_.top().at));
        if (until == now_) return;
        for (std::size_t g = 0; g < sites_.size(); ++g) {
            while (const auto context = sites_[g]->gpu.advance(until)) {
                const auto [slot, process] = sites_[g]->owner[*context];
                const Nanos seen = sites_[g]->gpu.now() + late();
                push(seen, What::completed, g, slot, process);
                until = std::max(sites_[g]->gpu.now(), std::min(until, seen));
            }
        }
        now_ = until;
    }
}

void World::run_for(Nanos duration) {
    const Nanos end = now_ + duration;
    while (now_ < end) {
        advance_gpus(end);
        while (!events_.empty() && events_.top().at <= now_) {
            const Event event = events_.top();
            events_.pop();
            handle(event);
        }
    }
}

void World::mark() {
    marked_at_ = now_;
    steps_at_mark_ = 0;
    for (const auto& site : sites_) {
        steps_at_mark_ += site->steps;
        for (Instance& instance : site->instances) {
            for (std::size_t p = 0; p < instance.processes.size(); ++p) {
                instance.served_at_mark[p] = site->gpu.served(instance.processes[p]->context());
            }
        }
    }
}

Nanos World::served(std::size_t slot, std::size_t gpu) const {
    const Site& site = *sites_[gpu];
    const Instance& instance = site.instances[slot];
    Nanos served = 0;
    for (std::size_t p = 0; p < instance.processes.size(); ++p) {
        served += site.gpu.served(instance.processes[p]->context()) - instance.served_at_mark[p];
    }
    return served;
}

double World::share(std::size_t slot, std::size_t gpu) const {
    return static_cast<double>(served(slot, gpu)) / static_cast<double>(now_ - marked_at_);
}

double World::busy(std::size_t gpu) const {
    double sum = 0;
    for (std::size_t i = 0; i < kSlots; ++i) sum += share(i, gpu);
    return sum;
}

double World::steps_per_second() const {
    std::int64_t steps = -steps_at_mark_;
    for (const auto& site : sites_) steps += site->steps;
    return static_cast<double>(steps) * 1e9 / static_cast<double>(now_ - marked_at_);
}

std::uint64_t World::done(std::size_t slot, std::size_t gpu) const {
    std::uint64_t sum = 0;
    for (const auto& p : sites_[gpu]->instances[slot].processes) sum += sites_[gpu]->gpu.done(p->context());
    return sum;
}

std::vector<Nanos> World::delays(std::size_t slot) const {
    std::vector<Nanos> all = sites_[0]->instances[slot].processes[0]->first_start_delays();
    std::sort(all.begin(), all.end());
    return all;
}

}  // namespace cgpu::schedule::sim
