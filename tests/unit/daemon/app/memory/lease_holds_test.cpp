#include <gtest/gtest.h>

#include "tests/unit/daemon/app/memory/lease_fakes.hpp"

namespace cgpu::app::test {
namespace {

TEST(LeaseHolds, NoLeaseIsGrantedBeforeTheFirstContextOfACardWasSeen) {
    LeaseBed bed(kGiB);
    bed.enter(1);
    ASSERT_EQ((*bed.ask(1, 0, LeaseAsk::What::context))->granted, 256 * kMiB);
    bed.gpus.shown[1] = 518 * kMiB;
    bed.leases.made(bed.key(1));
    const auto first = bed.ask(1, 64 * kMiB);
    EXPECT_FALSE(*first) << "the context may be larger than what was set aside for it";
    bed.loop.advance(kSettled);
    ASSERT_TRUE(*first);
    EXPECT_EQ((*first)->why, wire::Why::none);
    // The limit has room for 506 MiB beside a context of 518.
    bed.fronts.charges[1] = 64 * kMiB;
    EXPECT_EQ((*bed.ask(1, 500 * kMiB))->why, wire::Why::over_limit);
    EXPECT_LE(bed.leased(), kGiB);
}

TEST(LeaseHolds, WhatAnInstanceUsesIsToldWhenItsFirstContextWasSeen) {
    LeaseBed bed(kGiB);
    bed.enter(1);
    ASSERT_EQ((*bed.ask(1, 0, LeaseAsk::What::context))->granted, 256 * kMiB);
    EXPECT_FALSE(bed.leases.awaits_context(bed.key(1))) << "it is being made, which may take seconds";
    bed.gpus.shown[1] = 518 * kMiB;
    bed.leases.made(bed.key(1));
    ASSERT_TRUE(bed.leases.awaits_context(bed.key(1)));
    const auto usage = bed.ask(1, 0, LeaseAsk::What::usage);
    EXPECT_FALSE(*usage);
    bed.loop.advance(kSettled);
    ASSERT_TRUE(*usage);
    EXPECT_EQ((*usage)->why, wire::Why::none);
    EXPECT_EQ((*usage)->used, 518 * kMiB);
    EXPECT_FALSE(bed.leases.awaits_context(bed.key(1)));
}

TEST(LeaseHolds, ALoadHoldsBackWhatItMayTakeBeyondItsSize) {
    LeaseBed bed(kGiB);
    bed.enter(1);
    ASSERT_EQ((*bed.ask(1, 4 * kMiB, LeaseAsk::What::load))->granted, 4 * kMiB);
    EXPECT_EQ(bed.used(), 4 * kMiB) << "what is held back doesn't count as used";
    bed.leases.made(bed.key(1));
    bed.gpus.shown[1] = 94 * kMiB;
    // Beside it another allocation takes what is certainly free at once, and waits for the rest.
    ASSERT_EQ((*bed.ask(1, 800 * kMiB))->why, wire::Why::none);
    bed.fronts.charges[1] = 800 * kMiB;
    bed.gpus.shown[1] = 894 * kMiB;
    const auto second = bed.ask(1, 140 * kMiB);
    EXPECT_FALSE(*second);
    bed.loop.advance(kSettled);
    ASSERT_TRUE(*second);
    EXPECT_EQ((*second)->why, wire::Why::over_limit) << "94 MiB of code and stacks, 800 of the limit's 1024";
    EXPECT_EQ(bed.used(), 894 * kMiB);
    EXPECT_EQ((*bed.ask(1, 128 * kMiB))->why, wire::Why::none);
}

TEST(LeaseHolds, WhatIsHeldBackIsNoReasonToRefuse) {
    LeaseBed bed(kGiB);
    bed.enter(1);
    bed.enter(2);
    ASSERT_EQ((*bed.ask(1, 900 * kMiB))->why, wire::Why::none);
    bed.fronts.charges[1] = 900 * kMiB;
    // A function's code comes: all that is left is held back.
    ASSERT_EQ((*bed.ask(1, 0, LeaseAsk::What::load))->why, wire::Why::none);
    EXPECT_EQ(bed.leased(), 900 * kMiB) << "neither leased nor used";
    EXPECT_EQ(bed.used(), 900 * kMiB);
    // Its local memory, and another process's code.
    ASSERT_EQ((*bed.ask(1, 10 * kMiB, LeaseAsk::What::load))->granted, 10 * kMiB);
    ASSERT_EQ((*bed.ask(2, 20 * kMiB, LeaseAsk::What::load))->granted, 20 * kMiB);
    EXPECT_LE(bed.used(), 930 * kMiB);
    // An allocation waits for the figure, which doesn't come while the code is being compiled.
    const auto allocation = bed.ask(2, 90 * kMiB);
    EXPECT_FALSE(*allocation);
    bed.loop.advance(250 * kMs);
    ASSERT_TRUE(*allocation);
    EXPECT_EQ((*allocation)->why, wire::Why::none);
    const auto more = bed.ask(2, 90 * kMiB);
    bed.loop.advance(250 * kMs);
    ASSERT_TRUE(*more);
    EXPECT_EQ((*more)->why, wire::Why::over_limit);
}

TEST(LeaseHolds, ALoadAtTheLimitIsNotRefusedForWhatItMayTakeBeyondItsSize) {
    LeaseBed bed(kGiB);
    bed.enter(1);
    ASSERT_EQ((*bed.ask(1, 1000 * kMiB))->why, wire::Why::none);
    bed.fronts.charges[1] = 1000 * kMiB;
    const auto load = bed.ask(1, 8 * kMiB, LeaseAsk::What::load);
    ASSERT_TRUE(*load);
    EXPECT_EQ((*load)->granted, 8 * kMiB);
    EXPECT_LE(bed.leased(), kGiB);
}

}  // namespace
}  // namespace cgpu::app::test
