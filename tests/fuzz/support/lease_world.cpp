#include "tests/fuzz/support/lease_world.hpp"

#include <algorithm>

namespace cgpu::fuzz {
namespace {

constexpr std::uint64_t kFirstLimit = 2048 * kMib;
/// This long after the last change of what processes hold, all of it has been found, whatever the processes
/// say meanwhile (docs/isolation.md says some four seconds).
constexpr Nanos kFound = 10'000 * kMs;
/// The size of a context that is learnt is at most this.
constexpr std::uint64_t kLargestContext = 1024 * kMib;
/// This long after the driver has stopped to show a process, its end is known.
constexpr Nanos kGone = 3'000 * kMs;

}  // namespace

model::Instance LeaseWorld::instance(int number, std::uint64_t limit) {
    const std::string name = number == 0 ? "one" : "other" + std::to_string(number);
    return app::test::instance(name.c_str(), limit);
}

const app::PoolKey& LeaseWorld::pool(int number) {
    static const std::vector<app::PoolKey> all = [] {
        std::vector<app::PoolKey> made;
        made.reserve(kInstances);
        for (int each = 0; each < kInstances; ++each)
            made.push_back({app::key_of(instance(each, 0)), app::test::gpu(1)});
        return made;
    }();
    return all[static_cast<std::size_t>(number)];
}

LeaseWorld::LeaseWorld(const app::LeaseSettings& settings) : settings_(settings) {
    for (int number = 0; number < kInstances; ++number) instances_[number] = {kFirstLimit, kFirstLimit, 0};
    begin({});
}

void LeaseWorld::begin(app::test::LeaseMemory table) {
    ++daemon_;
    bed_ = std::make_unique<app::test::LeaseBed>(instances_[0].limit, std::move(table), settings_);
    bed_->fronts.spare = [this](const app::LeaseKey& whose, std::uint64_t bytes) {
        const auto pid = whose.process.pid;
        auto& it = processes_[pid];
        const auto charged = std::min(bed_->fronts.charges[pid], it.lease);
        const auto given = it.dead ? 0 : std::min(wire::align_down(it.lease - charged), bytes);
        it.lease -= std::min(wire::align_down(given), it.lease);
        return wire::align_down(given);
    };
    for (int number = 0; number < kInstances; ++number) {
        bed_->leases.set_instance(instance(number, instances_[number].limit));
        disturb(number);
    }
    bed_->leases.drop_rest();
    made_contexts_.clear();
    first_estimate_ = bed_->leases.context_estimate(app::test::gpu(1));
}

void LeaseWorld::restart() {
    auto table = bed_->table;
    const auto shown = bed_->gpus.shown;
    begin(std::move(table));
    bed_->gpus.shown = shown;
    for (auto& [pid, it] : processes_) {
        it.entered = false;
        it.waiting = 0;
        if (it.dead) bed_->leases.process_exited(key(pid).process);
    }
    check();
}

bool LeaseWorld::in_table(std::int32_t pid) const {
    return std::ranges::any_of(bed_->table.records,
                               [&](const auto& item) { return item.second.key.process.pid == pid; });
}

void LeaseWorld::enter(std::int32_t pid) {
    auto& it = processes_[pid];
    if (it.dead) return;
    it.entered = true;
    bed_->fronts.charges.try_emplace(pid, 0);
    must(bed_->leases.process_entered(pool(instance_of(pid)).instance, key(pid).process).has_value(),
         "a process may come");
    check();
}

void LeaseWorld::ask(std::int32_t pid, app::LeaseAsk::What what, std::uint64_t bytes, bool delivered) {
    if (!can_speak(pid)) return;
    if (what == app::LeaseAsk::What::context || what == app::LeaseAsk::What::load)
        made_contexts_.insert(instance_of(pid));
    ++processes_[pid].waiting;
    const app::LeaseAsk ask{key(pid), what, wire::align_up(bytes)};
    bed_->leases.ask(ask, [this, pid, ask, delivered, daemon = daemon_](const app::LeaseAnswer& answer) {
        if (daemon != daemon_) return false;
        granted(pid, ask, answer, delivered);
        return delivered;
    });
    check();
}

void LeaseWorld::granted(std::int32_t pid, const app::LeaseAsk& ask, const app::LeaseAnswer& answer,
                         bool delivered) {
    auto& it = processes_[pid];
    must(!it.dead, "nobody answers who is dead");
    --it.waiting;
    // A function of code that is loaded already asks for no bytes, and gets none.
    const bool asks_nothing =
        ask.what == app::LeaseAsk::What::usage || (ask.what == app::LeaseAsk::What::load && ask.bytes == 0);
    must(asks_nothing ? answer.granted == 0 : (answer.granted > 0) == (answer.why == wire::Why::none),
         "a refusal says why, a grant doesn't");
    if (answer.granted == 0) return;
    const auto& pool = ask.key.pool;
    must(bed_->leases.pools().leased(pool.instance.id, pool.gpu) <= bed_->leases.pools().limit(pool),
         "never more is granted than the limit");
    if (ask.what != app::LeaseAsk::What::lease) return;
    must(answer.granted >= wire::align_up(ask.bytes), "all is granted or nothing");
    if (delivered) it.lease += answer.granted;
}

void LeaseWorld::give(std::int32_t pid, std::uint64_t bytes) {
    if (!can_speak(pid)) return;
    auto& it = processes_[pid];
    bytes = wire::align_down(bytes);
    it.lease -= std::min(bytes, it.lease);
    bed_->leases.give(key(pid), bytes);
    check();
}

void LeaseWorld::held(std::int32_t pid, std::uint64_t bytes) {
    if (!can_speak(pid)) return;
    auto& it = processes_[pid];
    bytes = wire::align_up(bytes);
    it.lease = std::min(it.lease, bytes);
    bed_->leases.held(key(pid), bytes);
    check();
}

void LeaseWorld::say(std::int32_t pid, unsigned word, std::uint64_t bytes) {
    if (!can_speak(pid)) return;
    switch (word % 4) {
        case 0:
            bed_->leases.made(key(pid));
            break;
        case 1:
            bed_->leases.not_made(key(pid), wire::align_up(bytes));
            break;
        case 2:
            bed_->leases.moved(key(pid), bytes);
            break;
        default:
            bed_->leases.context_gone(key(pid));
            break;
    }
    check();
}

void LeaseWorld::report(std::int32_t pid, std::uint64_t charged, std::uint64_t pooled, bool changing) {
    if (!can_speak(pid)) return;
    bed_->fronts.charges[pid] = charged;
    bed_->fronts.pooled[pid] = pooled;
    if (changing)
        bed_->fronts.changing.insert(pid);
    else
        bed_->fronts.changing.erase(pid);
    check();
}

void LeaseWorld::stop(std::int32_t pid, bool stopped) {
    if (stopped)
        bed_->fronts.stopped.insert(pid);
    else
        bed_->fronts.stopped.erase(pid);
}

void LeaseWorld::exit(std::int32_t pid) {
    auto& it = processes_[pid];
    if (it.dead || !in_table(pid)) return;
    it.dead = true;
    it.waiting = 0;
    bed_->leases.process_exited(key(pid).process);
    disturb(instance_of(pid));
    check();
}

void LeaseWorld::bury(std::int32_t pid) {
    if (!processes_[pid].dead) return;
    bed_->gpus.shown.erase(pid);
    bed_->loop.advance(kGone);
    forget(pid);
    check();
}

void LeaseWorld::forget(std::int32_t pid) {
    must(!in_table(pid), "a lease ends when the memory of its process is gone");
    processes_[pid] = {};
    bed_->fronts.charges.erase(pid);
    bed_->fronts.pooled.erase(pid);
    bed_->fronts.changing.erase(pid);
    disturb(instance_of(pid));
}

void LeaseWorld::show(std::int32_t pid, std::uint64_t bytes) {
    if (!processes_[pid].entered) return;
    bed_->gpus.shown[pid] = bytes;
    disturb(instance_of(pid));
}

void LeaseWorld::set_limit(int number, std::uint64_t bytes, bool force) {
    // The service refuses it before the leases are asked.
    if (!force && bytes < bed_->leases.pools().used(pool(number))) return;
    bed_->leases.set_instance(instance(number, bytes));
    instances_[number].limit = bytes;
    instances_[number].highest_limit = std::max(instances_[number].highest_limit, bytes);
    disturb(number);
    check();
}

void LeaseWorld::advance(Nanos by) {
    bed_->loop.advance(by);
    check();
    // Only here: memory that a message takes back is counted again by the reading that the message causes.
    for (int number = 0; number < kInstances; ++number) check_hidden(number);
}

void LeaseWorld::check() {
    check_table();
    for (int number = 0; number < kInstances; ++number) check_instance(number);
    check_estimate();
}

void LeaseWorld::check_table() {
    std::map<std::int32_t, std::uint64_t> saved;
    for (const auto& [place, record] : bed_->table.records) {
        const auto pid = record.key.process.pid;
        must(saved.emplace(pid, record.amounts.lease).second, "a process has one lease");
        must(record.amounts.lease == processes_[pid].lease,
             "a lease is what was granted less what was given back");
    }
    for (auto& [pid, it] : processes_) {
        must(saved.contains(pid) || !it.entered || it.dead, "no lease of the living is forgotten");
        if (!saved.contains(pid)) it.lease = 0;
    }
}

void LeaseWorld::check_instance(int number) {
    const auto& it = instances_.at(number);
    const auto& where = pool(number);
    const auto& id = where.instance.id;
    must(bed_->leases.pools().limit(where) == it.limit, "a limit is what was set");
    must(bed_->leases.pools().used(id, where.gpu) <= bed_->leases.pools().leased(id, where.gpu),
         "what is used is leased");
    std::uint64_t leases = 0;
    for (auto pid = number * kEach + 1; pid <= (number + 1) * kEach; ++pid) leases += processes_[pid].lease;
    must(leases <= it.highest_limit, "leases never add up to more than the limit");
}

void LeaseWorld::check_hidden(int number) {
    const auto& it = instances_.at(number);
    if (bed_->loop.now() - it.calm_since < kFound) return;
    std::map<std::int32_t, std::uint64_t> counted;
    for (const auto& holder : bed_->leases.pools().holders(pool(number)))
        counted[holder.process.pid] = holder.bytes;
    std::uint64_t hidden = 0;
    for (auto pid = number * kEach + 1; pid <= (number + 1) * kEach; ++pid) {
        const auto& process = processes_[pid];
        if (!process.entered || process.dead || !bed_->gpus.shown.contains(pid)) continue;
        const auto shown = bed_->gpus.shown.at(pid);
        hidden += shown - std::min(shown, counted[pid]);
    }
    const auto each = settings_.unexplained.gap + std::max(kLargestContext, settings_.first_context_estimate);
    must(hidden <= it.highest_limit + kEach * each,
         "the processes of an instance hide no more than the limit, and a context and the gap each");
}

void LeaseWorld::check_estimate() {
    const auto estimate = bed_->leases.context_estimate(app::test::gpu(1));
    must(made_contexts_.size() >= 3 || estimate == first_estimate_,
         "no word of one instance alone moves what is set aside for a context");
}

void LeaseWorld::end() {
    constexpr auto kProcesses = kInstances * kEach;
    const auto waits = [](const auto& item) { return item.second.waiting > 0; };
    for (std::int32_t pid = 1; pid <= kProcesses; ++pid) stop(pid, false);
    // Each request has a deadline, one after the other.
    for (int second = 0; second < 60 && std::ranges::any_of(processes_, waits); ++second)
        advance(1'000 * kMs);
    must(std::ranges::none_of(processes_, waits), "everybody is answered");
    for (std::int32_t pid = 1; pid <= kProcesses; ++pid) exit(pid);
    bed_->gpus.shown.clear();
    bed_->loop.advance(kGone);
    for (std::int32_t pid = 1; pid <= kProcesses; ++pid) forget(pid);
    must(bed_->table.records.empty(), "nothing is left when all are gone");
}

}  // namespace cgpu::fuzz
