#include <gtest/gtest.h>

#include <set>

#include "tests/unit/daemon/app/memory/lease_work.hpp"

namespace cgpu::app::test {
namespace {

// A process that never connected is outside the module, however little memory it has.

using Pids = std::vector<std::int32_t>;

/// Process 7, of the instance, has a context and doesn't connect.
void stranger_comes(LeaseBed& bed) {
    bed.fronts.ours = {7};
    bed.gpus.shown[7] = 30 * kMiB;
}

TEST(LeaseOutside, IsWhoHasAContextAndNeverSaidHello) {
    LeaseBed bed(2 * kGiB, {}, with(OnEscape::report));
    work(bed, 1);
    stranger_comes(bed);
    bed.loop.advance(4'000 * kMs);
    EXPECT_EQ(bed.outside(), Pids{7});
    EXPECT_EQ(bed.unexplained(), 0U) << "below the gap";
    EXPECT_EQ((*bed.ask(1, 10 * kMiB))->why, wire::Why::none) << "reported, not refused";
    EXPECT_TRUE(bed.processes.killed.empty());
    bed.leases.process_exited(bed.key(7).process);
    EXPECT_EQ(bed.outside(), Pids{});
}

TEST(LeaseOutside, IsNobodyWhoseContextIsGone) {
    LeaseBed bed(2 * kGiB, {}, with(OnEscape::refuse));
    work(bed, 1);
    stranger_comes(bed);
    bed.loop.advance(4'000 * kMs);
    ASSERT_EQ(bed.outside(), Pids{7});
    bed.processes.halted = {7};
    bed.loop.advance(kFound);
    EXPECT_EQ(bed.outside(), Pids{7}) << "it was found before it was stopped";
    bed.gpus.shown.erase(7);
    bed.loop.advance(kFound);
    EXPECT_EQ(bed.outside(), Pids{});
    EXPECT_EQ((*bed.ask(1, 10 * kMiB))->why, wire::Why::none);
}

TEST(LeaseOutside, IsNobodyWhoSaysIt) {
    LeaseBed bed(2 * kGiB, {}, with(OnEscape::report));
    work(bed, 1);
    bed.loop.advance(kFound);
    EXPECT_EQ(bed.outside(), Pids{});
    stranger_comes(bed);
    bed.loop.advance(kFound);
    ASSERT_EQ(bed.outside(), Pids{7});
    bed.enter(7);
    bed.loop.advance(kFound);
    EXPECT_EQ(bed.outside(), Pids{});
}

TEST(LeaseOutside, RefuseGrantsNothingMeanwhile) {
    LeaseBed bed(4 * kGiB, {}, with(OnEscape::refuse));
    work(bed, 1);
    stranger_comes(bed);
    bed.loop.advance(4'000 * kMs);
    EXPECT_EQ((*bed.ask(1, 10 * kMiB))->why, wire::Why::over_limit);
    bed.leases.process_exited(bed.key(7).process);
    bed.gpus.shown.erase(7);
    bed.loop.advance(kFound);
    EXPECT_EQ((*bed.ask(1, 10 * kMiB))->why, wire::Why::none);
}

TEST(LeaseOutside, KillEndsIt) {
    LeaseBed bed(4 * kGiB, {}, with(OnEscape::kill));
    work(bed, 1);
    stranger_comes(bed);
    bed.loop.advance(4'000 * kMs);
    ASSERT_FALSE(bed.processes.killed.empty());
    EXPECT_EQ(std::set<std::int32_t>(bed.processes.killed.begin(), bed.processes.killed.end()),
              std::set<std::int32_t>{7});
}

TEST(LeaseOutside, IsNobodyWhoIsStopped) {
    LeaseBed bed(4 * kGiB, {}, with(OnEscape::kill));
    bed.fronts.ours = {7};
    bed.processes.halted = {7};
    bed.gpus.shown[7] = 30 * kMiB;
    bed.loop.advance(kFound);
    EXPECT_EQ(bed.outside(), Pids{});
    EXPECT_TRUE(bed.processes.killed.empty());
    bed.processes.halted.clear();
    bed.loop.advance(4'000 * kMs);
    EXPECT_EQ(bed.outside(), Pids{7});
}

TEST(LeaseOutside, IsNobodyInTheHalfMinuteAfterARestart) {
    LeaseMemory damaged;
    damaged.was_damaged = true;
    LeaseBed bed(4 * kGiB, damaged, with(OnEscape::report));
    stranger_comes(bed);
    bed.loop.advance(29'000 * kMs);
    EXPECT_EQ(bed.outside(), Pids{});
    bed.loop.advance(6'000 * kMs);
    EXPECT_EQ(bed.outside(), Pids{7});
}

TEST(LeaseOutside, IsNobodyWhomAnEarlierDaemonKnew) {
    LeaseBed before(4 * kGiB);
    work(before, 1);
    LeaseBed bed(4 * kGiB, before.table, with(OnEscape::kill));
    bed.gpus.shown[1] = 356 * kMiB;
    bed.fronts.ours = {1};
    bed.loop.advance(60'000 * kMs);
    EXPECT_EQ(bed.outside(), Pids{}) << "it has not connected again yet";
    EXPECT_TRUE(bed.processes.killed.empty());
}

// Found as a gap: nothing looked for a job's memory on a card of which it has no part.
TEST(LeaseOutside, IsWhoUsesAGpuThatIsNotTheInstances) {
    for (const auto on_escape : {OnEscape::report, OnEscape::refuse, OnEscape::kill}) {
        LeaseBed bed(2 * kGiB, {}, with(on_escape));
        bed.leases.set_gpus({gpu(1), gpu(2)});
        work(bed, 1);
        bed.fronts.ours = {1, 7};
        bed.gpus.shown_on_2[1] = 30 * kMiB;  // has said hello for the other one
        bed.gpus.shown_on_2[7] = 500 * kMiB;
        bed.gpus.shown_on_2[8] = 500 * kMiB;  // nobody's
        bed.loop.advance(4'000 * kMs);
        const auto id = instance("one", 0).id;
        const auto& pools = bed.leases.pools();
        EXPECT_EQ(pools.foreign_gpus(id), std::vector<model::Uuid>{gpu(2)});
        EXPECT_EQ(pools.outside(id, gpu(2)), (Pids{1, 7}));
        EXPECT_EQ(pools.used(id, gpu(2)), 530 * kMiB);
        EXPECT_EQ(bed.outside(), Pids{});
        EXPECT_EQ(bed.used(), 356 * kMiB) << "its own GPU's";
        EXPECT_EQ((*bed.ask(1, 10 * kMiB))->why,
                  on_escape == OnEscape::report ? wire::Why::none : wire::Why::over_limit);
        const std::set<std::int32_t> killed(bed.processes.killed.begin(), bed.processes.killed.end());
        EXPECT_EQ(killed,
                  on_escape == OnEscape::kill ? std::set<std::int32_t>({1, 7}) : std::set<std::int32_t>());
        bed.gpus.shown_on_2.clear();
        bed.loop.advance(kFound);
        EXPECT_EQ(pools.foreign_gpus(id), std::vector<model::Uuid>{});
    }
}

TEST(LeaseOutside, IsNobodyWhoSaidHelloInAnInnerInstance) {
    LeaseBed bed(2 * kGiB, {}, with(OnEscape::kill));
    bed.leases.set_gpus({gpu(1), gpu(2)});
    auto inner = instance("two", kGiB);
    inner.quotas.front().gpu = gpu(2);
    bed.leases.set_instance(inner);
    bed.fronts.ours = {7};  // of the outer one, too: it runs in it
    bed.gpus.shown_on_2[7] = 300 * kMiB;
    bed.loop.advance(500 * kMs);
    LeaseBed::must(bed.leases.process_entered(key_of(inner), {7, 1, "boot"}));
    bed.loop.advance(kFound);
    EXPECT_EQ(bed.leases.pools().foreign_gpus(instance("one", 0).id), std::vector<model::Uuid>{});
    EXPECT_EQ(bed.fronts.gone, std::vector{key_of(instance("one", 0))}) << "it may end now";
}

TEST(LeaseOutside, IsNobodyOnAnotherGpuWhereNothingIsIsolated) {
    LeaseBed bed(kGiB, {}, with(OnEscape::kill));
    auto unlimited = instance("one", kGiB);
    unlimited.mode = model::Mode::none;
    bed.leases.set_instance(unlimited);
    bed.leases.set_gpus({gpu(1), gpu(2)});
    bed.fronts.ours = {7};
    bed.gpus.shown_on_2[7] = 300 * kMiB;
    bed.leases.look(gpu(2));
    bed.loop.advance(kFound);
    EXPECT_EQ(bed.leases.pools().foreign_gpus(instance("one", 0).id), std::vector<model::Uuid>{});
    EXPECT_TRUE(bed.processes.killed.empty());
}

TEST(LeaseOutside, IsNobodyWhereNothingIsIsolated) {
    LeaseBed bed(kGiB, {}, with(OnEscape::kill));
    auto unlimited = instance("one", kGiB);
    unlimited.mode = model::Mode::none;
    bed.leases.set_instance(unlimited);
    stranger_comes(bed);
    bed.leases.look(gpu(1));
    bed.loop.advance(kFound);
    EXPECT_EQ(bed.outside(), Pids{});
    EXPECT_TRUE(bed.processes.killed.empty());
}

}  // namespace
}  // namespace cgpu::app::test
