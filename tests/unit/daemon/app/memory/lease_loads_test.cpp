#include <gtest/gtest.h>

#include "tests/unit/daemon/app/memory/lease_work.hpp"

namespace cgpu::app::test {
namespace {

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

TEST(LeaseLoads, MemoryPastTheModuleTeachesOthersNothing) {
    LeaseBed bed(4 * kGiB);
    bed.enter(1);
    ASSERT_EQ((*bed.ask(1, kGiB, LeaseAsk::What::context))->granted, 256 * kMiB) << "whatever it asks for";
    bed.gpus.shown[1] = 3 * kGiB;
    bed.leases.made(bed.key(1));
    bed.loop.advance(kFound);
    EXPECT_EQ(bed.leases.context_estimate(gpu(1)), 256 * kMiB);
    EXPECT_GE(bed.unexplained(), 2 * kGiB);
    ASSERT_EQ((*bed.ask(1, 0, LeaseAsk::What::context))->granted, 512 * kMiB)
        << "its own: twice what was expected";
    LeaseBed later(kGiB, bed.table);
    EXPECT_EQ(later.leases.context_estimate(gpu(1)), 256 * kMiB) << "after a restart, too";
}

}  // namespace
}  // namespace cgpu::app::test
