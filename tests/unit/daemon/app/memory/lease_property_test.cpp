#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/unit/daemon/app/memory/lease_fakes.hpp"

namespace cgpu::app::test {
namespace {

constexpr std::int32_t kProcesses = 4;
constexpr Nanos kSecond = 1'000'000'000;

/// What each process assumes, recorded beside the leases and compared with them.
struct World {
    struct Believes {
        std::uint64_t lease = 0;
        std::uint64_t charged = 0;
        std::uint64_t refused_asks = 0;  ///< of which it hasn't told that it gave up
        bool entered = false;
        bool dead = false;
    };

    explicit World(std::uint64_t first_limit) : bed(first_limit), limit(first_limit) {
        bed.fronts.spare = [this](const LeaseKey& key, std::uint64_t bytes) {
            auto& it = processes[key.process.pid];
            const auto given = std::min(wire::align_down(it.lease - it.charged), bytes);
            it.lease -= given;
            return given;
        };
    }

    void charge(std::int32_t pid, std::uint64_t bytes) {
        auto& it = processes[pid];
        it.charged = std::min(wire::align_up(bytes), it.lease);
        bed.fronts.charges[pid] = it.charged;
        show(pid);
    }
    void show(std::int32_t pid) {
        const auto& it = processes[pid];
        if (it.entered) bed.gpus.shown[pid] = it.charged;
    }

    void ask(std::int32_t pid, std::uint64_t bytes) {
        auto& it = processes[pid];
        if (it.dead) return;
        if (!it.entered) {
            bed.enter(pid);
            it.entered = true;
            show(pid);
        }
        std::uint64_t taken = it.lease;
        for (const auto& [other, theirs] : processes)
            if (other != pid) taken += theirs.dead ? theirs.lease : wire::align_up(theirs.charged);
        const auto need = wire::align_up(bytes);
        const bool fits = taken + need <= limit;
        const auto before = bed.leased();
        const auto answer = bed.ask(pid, need);
        bed.loop.advance(kSecond);
        RC_ASSERT(answer->has_value());
        RC_ASSERT(((*answer)->granted > 0) == fits);
        if ((*answer)->granted > 0) {
            RC_ASSERT((*answer)->granted >= need);
            RC_ASSERT(bed.leased() <= limit);
            it.lease += (*answer)->granted;
        } else {
            RC_ASSERT(bed.leased() <= before);
            ++it.refused_asks;
        }
    }

    /// It reports that it has refused its program this many bytes.
    void give_up(std::int32_t pid, std::uint64_t bytes) {
        auto& it = processes[pid];
        const bool true_word = it.entered && !it.dead && (it.refused_asks > 0 || bytes > limit);
        if (true_word && it.refused_asks > 0) --it.refused_asks;
        if (true_word) ++refused;
        RC_ASSERT(bed.leases.allocation_refused(bed.key(pid), bytes) == true_word);
    }

    void give(std::int32_t pid, std::uint64_t bytes) {
        auto& it = processes[pid];
        if (it.dead) return;
        const auto given = std::min(wire::align_down(bytes), wire::align_down(it.lease - it.charged));
        it.lease -= given;
        bed.leases.give(bed.key(pid), given);
    }

    void exit(std::int32_t pid) {
        auto& it = processes[pid];
        if (it.dead || !it.entered) return;
        it.dead = true;
        bed.leases.process_exited(bed.key(pid).process);
        bed.loop.advance(kSecond);
    }

    /// The driver has freed the memory of a dead process; the pid is used again.
    void bury(std::int32_t pid) {
        if (!processes[pid].dead) return;
        bed.gpus.shown.erase(pid);
        bed.loop.advance(kSecond);
        processes[pid] = {};
        bed.fronts.charges.erase(pid);
    }

    void set_limit(std::uint64_t bytes) {
        std::uint64_t used = 0;
        for (const auto& [pid, it] : processes) used += it.charged;
        if (bytes < used) return;  // refused before the leases hear of it, unless forced
        bed.set_limit(bytes);
        limit = bytes;
        bed.loop.advance(kSecond);
    }

    void check() {
        std::uint64_t lease = 0;
        std::uint64_t charged = 0;
        for (const auto& [pid, it] : processes) {
            lease += it.lease;
            charged += it.charged;
            RC_ASSERT(it.charged <= it.lease);
        }
        RC_ASSERT(bed.leased() == lease);
        RC_ASSERT(bed.used() == charged);
        RC_ASSERT(bed.leases.pools().refused(bed.key(1).pool.instance.id, gpu(1)) == refused);
        std::uint64_t saved = 0;
        for (const auto& record : bed.table.saved()) saved += record.amounts.lease + record.amounts.unsized;
        RC_ASSERT(saved == lease);
    }

    LeaseBed bed;
    std::uint64_t limit;
    std::uint64_t refused = 0;  ///< allocations, as those who were believed have said
    std::map<std::int32_t, Believes> processes;
};

RC_GTEST_PROP(LeaseProperty, AgreesWithWhatTheProcessesBelieveAndNeverExceeds, ()) {
    World world(*rc::gen::inRange<std::uint64_t>(0, 400) * kMiB);
    const auto steps = *rc::gen::container<std::vector<std::tuple<int, int, std::uint64_t>>>(
        rc::gen::tuple(rc::gen::inRange(0, 11), rc::gen::inRange(1, kProcesses + 1),
                       rc::gen::inRange<std::uint64_t>(1, 200 * kMiB)));
    for (const auto& [what, pid, bytes] : steps) {
        if (what < 3) world.ask(pid, bytes);
        if (what == 3 || what == 4) world.give(pid, bytes);
        if (what == 5 || what == 6) {
            if (!world.processes[pid].dead) world.charge(pid, bytes / 2);
        }
        if (what == 7) world.exit(pid);
        if (what == 8) world.bury(pid);
        if (what == 9) world.set_limit(bytes * 2);
        if (what == 10) world.give_up(pid, bytes);
        world.check();
    }
    for (std::int32_t pid = 1; pid <= kProcesses; ++pid) {
        world.exit(pid);
        world.bury(pid);
    }
    world.check();
    RC_ASSERT(world.bed.leased() == 0U);
    RC_ASSERT(world.bed.table.records.empty());
}

/// Many asks at once from processes that answer recalls, some of them stopped: all are answered, and the sum
/// is within the limit.
RC_GTEST_PROP(LeaseProperty, ManyAsksAtOnceAreAllAnsweredWithinTheLimit, ()) {
    const auto limit = *rc::gen::inRange<std::uint64_t>(16, 300) * kMiB;
    World world(limit);
    for (std::int32_t pid = 1; pid <= kProcesses; ++pid) {
        world.bed.enter(pid);
        world.processes[pid].entered = true;
    }
    if (*rc::gen::inRange(0, 2) == 1) world.bed.fronts.stopped = {1};
    const auto asks = *rc::gen::container<std::vector<std::pair<int, std::uint64_t>>>(
        rc::gen::pair(rc::gen::inRange(1, kProcesses + 1), rc::gen::inRange<std::uint64_t>(1, 120 * kMiB)));
    std::size_t answered = 0;
    for (const auto& [pid, bytes] : asks) {
        world.bed.leases.ask({world.bed.key(pid), LeaseAsk::What::lease, wire::align_up(bytes)},
                             [&world, &answered, limit, who = pid](const LeaseAnswer& answer) {
                                 ++answered;
                                 world.processes[who].lease += answer.granted;
                                 RC_ASSERT(world.bed.leased() <= limit);
                                 return true;
                             });
        if (*rc::gen::inRange(0, 3) == 0) world.bed.loop.advance(kSecond / 100);
    }
    world.bed.loop.advance(kSecond / 5 * static_cast<Nanos>(asks.size() + 1));
    RC_ASSERT(answered == asks.size());
    world.check();
}

}  // namespace
}  // namespace cgpu::app::test
