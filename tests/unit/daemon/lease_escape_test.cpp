#include <gtest/gtest.h>

#include "tests/unit/daemon/lease_fakes.hpp"

namespace cgpu::app::test {
namespace {

constexpr Nanos kMs = 1'000'000;
constexpr Nanos kSettled = 100 * kMs;
/// Enough to find out: the idle look, those that confirm it, and the patience.
constexpr Nanos kFound = 6'000 * kMs;

LeaseSettings with(OnEscape on_escape) {
    LeaseSettings settings;
    settings.on_escape = on_escape;
    return settings;
}

/// A process with a context of 256 MiB and 100 MiB allocated, both as the module said.
void work(LeaseBed& bed, std::int32_t pid) {
    bed.enter(pid);
    ASSERT_EQ((*bed.ask(pid, 0, LeaseAsk::What::context))->why, wire::Why::none);
    ASSERT_EQ((*bed.ask(pid, 100 * kMiB))->why, wire::Why::none);
    bed.fronts.charges[pid] = 100 * kMiB;
    bed.gpus.shown[pid] = 356 * kMiB;
    bed.leases.made(bed.key(pid));
    bed.loop.advance(kSettled);
    ASSERT_EQ(bed.used(), 356 * kMiB);
}

// Code and heaps: set aside, made, measured.

TEST(LeaseLoads, AreSetAsideAndCorrectedByTheDriver) {
    LeaseBed bed(kGiB);
    work(bed, 1);
    const auto load = bed.ask(1, 200 * kMiB, LeaseAsk::What::load);
    ASSERT_EQ((*load)->granted, 200 * kMiB);
    EXPECT_EQ(bed.used(), 556 * kMiB);
    bed.loop.advance(kSettled);
    EXPECT_EQ(bed.used(), 556 * kMiB) << "as long as it may still come";
    bed.gpus.shown[1] = 420 * kMiB;
    bed.leases.made(bed.key(1));
    bed.loop.advance(kSettled);
    EXPECT_EQ(bed.used(), 420 * kMiB);
}

TEST(LeaseLoads, AreRefusedWhereTheyDontFit) {
    LeaseBed bed(400 * kMiB);
    work(bed, 1);
    const auto load = bed.ask(1, 45 * kMiB, LeaseAsk::What::load);
    ASSERT_TRUE(*load);
    EXPECT_EQ((*load)->why, wire::Why::over_limit);
    EXPECT_EQ((*bed.ask(1, 40 * kMiB, LeaseAsk::What::load))->why, wire::Why::none);
}

TEST(LeaseLoads, ThatCameToNothingGiveEverythingBack) {
    LeaseBed bed(kGiB);
    work(bed, 1);
    ASSERT_EQ((*bed.ask(1, 200 * kMiB, LeaseAsk::What::load))->granted, 200 * kMiB);
    bed.leases.not_made(bed.key(1), 200 * kMiB);
    EXPECT_EQ(bed.used(), 356 * kMiB);
}

TEST(LeaseLoads, TakeMoreOfTheLimitWhereTheyTurnedOutLarger) {
    LeaseBed bed(kGiB);
    work(bed, 1);
    ASSERT_EQ((*bed.ask(1, 20 * kMiB, LeaseAsk::What::load))->granted, 20 * kMiB);
    bed.gpus.shown[1] = 386 * kMiB;  // 10 MiB more
    bed.leases.made(bed.key(1));
    bed.loop.advance(kSettled);
    EXPECT_EQ((*bed.ask(1, 20 * kMiB, LeaseAsk::What::load))->granted, 30 * kMiB);
}

TEST(LeaseLoads, WhatAnUnloadGaveBackComesBack) {
    LeaseBed bed(kGiB);
    work(bed, 1);
    bed.gpus.shown[1] = 300 * kMiB;
    bed.leases.moved(bed.key(1), 56 * kMiB);
    bed.loop.advance(kSettled);
    EXPECT_EQ(bed.used(), 300 * kMiB);
}

TEST(LeaseLoads, MemoryPastTheModuleTeachesNobodyMuch) {
    LeaseBed bed(4 * kGiB);
    bed.enter(1);
    ASSERT_EQ((*bed.ask(1, 0, LeaseAsk::What::context))->granted, 256 * kMiB);
    bed.gpus.shown[1] = 3 * kGiB;
    bed.leases.made(bed.key(1));
    bed.loop.advance(kSettled);
    EXPECT_EQ(bed.leases.context_estimate(gpu(1)), 512 * kMiB) << "twice what was expected";
}

// Memory that came past the module.

TEST(LeaseEscape, IsCountedAtOnceAndFoundUnexplained) {
    LeaseBed bed(2 * kGiB, {}, with(OnEscape::report));
    work(bed, 1);
    bed.gpus.shown[1] = 856 * kMiB;
    bed.loop.advance(kFound);
    EXPECT_EQ(bed.used(), 856 * kMiB);
    EXPECT_EQ(bed.unexplained(), 500 * kMiB);
    EXPECT_EQ((*bed.ask(1, 10 * kMiB))->why, wire::Why::none) << "reported, not refused";
    EXPECT_TRUE(bed.processes.killed.empty());
    bed.gpus.shown[1] = 356 * kMiB;
    bed.loop.advance(kFound);
    EXPECT_EQ(bed.unexplained(), 0U);
}

TEST(LeaseEscape, RefuseGrantsNothingUntilItIsGone) {
    LeaseBed bed(4 * kGiB, {}, with(OnEscape::refuse));
    work(bed, 1);
    bed.gpus.shown[1] = 856 * kMiB;
    bed.loop.advance(kFound);
    bed.enter(2);
    for (const auto what : {LeaseAsk::What::lease, LeaseAsk::What::context, LeaseAsk::What::load}) {
        const auto refused = bed.ask(2, 10 * kMiB, what);
        ASSERT_TRUE(*refused) << "at once";
        EXPECT_EQ((*refused)->why, wire::Why::over_limit);
    }
    bed.leases.process_exited(bed.key(1).process);
    EXPECT_EQ((*bed.ask(2, 10 * kMiB))->why, wire::Why::none);
}

TEST(LeaseEscape, KillEndsTheProcessThatHoldsIt) {
    LeaseBed bed(4 * kGiB, {}, with(OnEscape::kill));
    work(bed, 1);
    bed.gpus.shown[1] = 856 * kMiB;
    bed.loop.advance(kFound);
    ASSERT_FALSE(bed.processes.killed.empty());
    EXPECT_EQ(bed.processes.killed.front(), 1);
}

TEST(LeaseEscape, AProcessThatNeverConnectedIsTakenIn) {
    LeaseBed bed(2 * kGiB, {}, with(OnEscape::report));
    work(bed, 1);
    bed.gpus.shown[7] = 900 * kMiB;  // one of ours
    bed.gpus.shown[8] = 900 * kMiB;  // not managed at all
    bed.fronts.ours = {7};
    bed.loop.advance(kFound);
    EXPECT_EQ(bed.used(), (356 + 900) * kMiB);
    EXPECT_EQ(bed.unexplained(), 900 * kMiB);
    bed.leases.process_exited(bed.key(7).process);
    bed.gpus.shown.erase(7);
    bed.loop.advance(kFound);
    EXPECT_EQ(bed.used(), 356 * kMiB);
}

TEST(LeaseEscape, ChargesThatNeverStandStillHideNothing) {
    LeaseBed bed(2 * kGiB, {}, with(OnEscape::report));
    work(bed, 1);
    bed.gpus.shown[1] = 1356 * kMiB;
    for (int i = 0; i < 400; ++i) {
        bed.leases.look(gpu(1));
        bed.fronts.charges[1] = (i % 2 == 0 ? 20 : 100) * kMiB;
        bed.loop.advance(20 * kMs);
    }
    EXPECT_GE(bed.unexplained(), 900 * kMiB);
    EXPECT_GE(bed.used(), 1250 * kMiB);
}

TEST(LeaseEscape, AProgramThatGrowsAsItSaysIsNeverFound) {
    LeaseBed bed(8 * kGiB, {}, with(OnEscape::kill));
    work(bed, 1);
    auto shown = 356 * kMiB;
    for (int i = 0; i < 20; ++i) {
        // Loads of up to twice what they seem to need, launches that take local memory, allocations.
        const auto load = bed.ask(1, 64 * kMiB, LeaseAsk::What::load);
        ASSERT_EQ((*load)->why, wire::Why::none);
        shown += static_cast<std::uint64_t>(i % 3) * 50 * kMiB;
        bed.gpus.shown[1] = shown;
        bed.loop.advance(3 * kFound);
        bed.leases.made(bed.key(1));
        bed.loop.advance(i % 2 == 0 ? kSettled : kFound);
        shown += 100 * kMiB;
        bed.gpus.shown[1] = shown;
        bed.loop.advance(50 * kMs);
        bed.leases.moved(bed.key(1), 0);
        bed.loop.advance(kFound);
        ASSERT_EQ(bed.unexplained(), 0U) << "step " << i;
    }
    EXPECT_TRUE(bed.processes.killed.empty());
}

TEST(LeaseEscape, OneThatIsSharedOnlyIsNotLookedInto) {
    LeaseBed bed(kGiB, {}, with(OnEscape::kill));
    auto unlimited = instance("one", kGiB);
    unlimited.mode = model::Mode::none;
    bed.leases.set_instance(unlimited);
    bed.enter(1);
    bed.gpus.shown[1] = 5 * kGiB;
    bed.loop.advance(kFound);
    EXPECT_EQ(bed.unexplained(), 0U);
    EXPECT_TRUE(bed.processes.killed.empty());
}

TEST(LeaseEscape, ARestartForgetsNothingBeyondTheLimit) {
    LeaseMemory table;
    {
        LeaseBed bed(kGiB);
        work(bed, 1);
        bed.gpus.shown[1] = 3 * kGiB;
        bed.loop.advance(kFound);
        ASSERT_GT(bed.unexplained(), 0U);
        table = bed.table;
    }
    LeaseBed bed(kGiB, table, with(OnEscape::report));
    bed.enter(1);
    bed.fronts.charges[1] = 100 * kMiB;
    bed.gpus.shown[1] = 3 * kGiB;
    bed.loop.advance(kFound);
    EXPECT_GE(bed.unexplained(), 2 * kGiB);
}

}  // namespace
}  // namespace cgpu::app::test
