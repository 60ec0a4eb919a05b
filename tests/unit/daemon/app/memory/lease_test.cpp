#include <gtest/gtest.h>

#include "tests/unit/daemon/app/memory/lease_fakes.hpp"

namespace cgpu::app::test {
namespace {

TEST(Lease, GrantsAtLeastWhatWasAskedAndAChunkWherePlentyIsLeft) {
    LeaseBed bed(kGiB);
    bed.enter(1);
    const auto answer = bed.ask(1, 2 * kMiB);
    ASSERT_TRUE(*answer);
    EXPECT_EQ((*answer)->granted, 32 * kMiB);
    EXPECT_EQ((*answer)->limit, kGiB);
    EXPECT_EQ((*bed.ask(1, 100 * kMiB))->granted, 100 * kMiB);
    EXPECT_EQ((*bed.ask(1, 4 * kMiB))->granted, 32 * kMiB);
    EXPECT_EQ(bed.leased(), 164 * kMiB);
    EXPECT_EQ(bed.used(), 0U);
}

TEST(Lease, TheChunkShrinksWhereLittleIsLeft) {
    LeaseBed bed(16 * kMiB);
    bed.enter(1);
    EXPECT_EQ((*bed.ask(1, 4 * kMiB))->granted, 6 * kMiB);
}

TEST(Lease, TheLimitIsOfAllProcessesTogether) {
    LeaseBed bed(100 * kMiB);
    bed.enter(1);
    bed.enter(2);
    ASSERT_EQ((*bed.ask(1, 60 * kMiB))->why, wire::Why::none);
    bed.fronts.charges[1] = 60 * kMiB;
    const auto refused = bed.ask(2, 50 * kMiB);
    ASSERT_TRUE(*refused) << "nothing can come, so the answer must not wait";
    EXPECT_EQ((*refused)->granted, 0U);
    EXPECT_EQ((*refused)->why, wire::Why::over_limit);
    EXPECT_EQ((*refused)->limit, 100 * kMiB);
    EXPECT_EQ((*refused)->used, 60 * kMiB);
    EXPECT_EQ((*bed.ask(2, 30 * kMiB))->why, wire::Why::none);
}

TEST(Lease, ARefusedAllocationCountsOnceHoweverOftenItWasAskedFor) {
    LeaseBed bed(100 * kMiB);
    bed.enter(1);
    bed.enter(2);
    const auto refused = [&] { return bed.leases.pools().refused(bed.key(1).pool.instance.id, gpu(1)); };
    for (int i = 0; i < 3; ++i) bed.ask(1, 200 * kMiB);
    EXPECT_EQ(refused(), 0U) << "it may still be granted";
    EXPECT_TRUE(bed.leases.allocation_refused(bed.key(1), 90 * kMiB));
    EXPECT_EQ(refused(), 1U);
    EXPECT_EQ(bed.leases.pools().refused(bed.key(1).pool.instance.id, gpu(2)), 0U);
    // A process can't report a refusal that didn't happen.
    EXPECT_FALSE(bed.leases.allocation_refused(bed.key(2), 90 * kMiB));
    EXPECT_FALSE(bed.leases.allocation_refused(bed.key(9), 200 * kMiB)) << "nobody";
    EXPECT_EQ(refused(), 1U);
    // But an allocation beyond the limit needn't be asked for.
    EXPECT_TRUE(bed.leases.allocation_refused(bed.key(2), 101 * kMiB));
    EXPECT_EQ(refused(), 2U);
    // No more refusals can be reported than happened.
    EXPECT_TRUE(bed.leases.allocation_refused(bed.key(1), kMiB));
    EXPECT_TRUE(bed.leases.allocation_refused(bed.key(1), kMiB));
    EXPECT_FALSE(bed.leases.allocation_refused(bed.key(1), kMiB));
    EXPECT_EQ(refused(), 4U);
    bed.leases.process_exited(bed.key(1).process);
    EXPECT_EQ(refused(), 4U) << "its end takes nothing back";
    EXPECT_FALSE(bed.leases.allocation_refused(bed.key(1), 101 * kMiB)) << "it is gone";
    bed.leases.drop_instance(bed.key(1).pool.instance.id);
    EXPECT_EQ(refused(), 0U);
}

TEST(Lease, NonsenseIsRefused) {
    LeaseBed bed(100 * kMiB);
    bed.enter(1);
    EXPECT_EQ((*bed.ask(1, 0))->why, wire::Why::bad_request);
    EXPECT_EQ((*bed.ask(1, ~0ull))->why, wire::Why::bad_request);
    EXPECT_EQ((*bed.ask(1, kLargestAsk))->why, wire::Why::over_limit);
    bed.leases.give(bed.key(1), ~0ull);
    bed.leases.give(bed.key(9), 4 * kMiB);
    EXPECT_EQ(bed.leased(), 0U);
    bed.fronts.charges[1] = ~0ull;
    ASSERT_EQ((*bed.ask(1, 4 * kMiB))->why, wire::Why::none);
    EXPECT_LE(bed.used(), bed.leased());
}

TEST(Lease, ASiblingGivesBackWhatItDoesNotUse) {
    LeaseBed bed(100 * kMiB);
    bed.enter(1);
    bed.enter(2);
    bed.fronts.spare = [](const LeaseKey&, std::uint64_t bytes) { return bytes; };
    ASSERT_EQ((*bed.ask(1, 90 * kMiB))->why, wire::Why::none);
    bed.fronts.charges[1] = 20 * kMiB;
    const auto answer = bed.ask(2, 50 * kMiB);
    EXPECT_FALSE(*answer);
    bed.loop.run_posted();
    ASSERT_TRUE(*answer);
    EXPECT_EQ((*answer)->granted, 50 * kMiB);
    EXPECT_LE(bed.leased(), 100 * kMiB);
}

TEST(Lease, ASiblingWithNothingToSpareEndsTheWaitAtOnce) {
    LeaseBed bed(100 * kMiB);
    bed.enter(1);
    bed.enter(2);
    ASSERT_EQ((*bed.ask(1, 90 * kMiB))->why, wire::Why::none);
    const auto answer = bed.ask(2, 50 * kMiB);
    bed.loop.run_posted();
    ASSERT_TRUE(*answer);
    EXPECT_EQ((*answer)->why, wire::Why::over_limit);
}

TEST(Lease, AStoppedSiblingCostsOneDeadline) {
    LeaseBed bed(100 * kMiB);
    bed.enter(1);
    bed.enter(2);
    bed.fronts.stopped = {1};
    ASSERT_EQ((*bed.ask(1, 90 * kMiB))->why, wire::Why::none);
    const auto first = bed.ask(2, 50 * kMiB);
    bed.loop.advance(199 * kMs);
    EXPECT_FALSE(*first);
    bed.loop.advance(2 * kMs);
    ASSERT_TRUE(*first);
    EXPECT_EQ((*first)->why, wire::Why::over_limit);
    EXPECT_TRUE(*bed.ask(2, 50 * kMiB)) << "it is not waited for twice";
    // When it runs again, it answers the old recall.
    bed.leases.give(bed.key(1), 50 * kMiB);
    EXPECT_EQ((*bed.ask(2, 50 * kMiB))->why, wire::Why::none);
}

TEST(Lease, ADaemonThatWasHeldUpHearsTheSiblingsFirst) {
    LeaseBed bed(100 * kMiB);
    bed.enter(1);
    bed.enter(2);
    bed.fronts.stopped = {1};
    ASSERT_EQ((*bed.ask(1, 90 * kMiB))->why, wire::Why::none);
    const auto answer = bed.ask(2, 50 * kMiB);
    bed.loop.held_up(1000 * kMs);
    EXPECT_FALSE(*answer);
    bed.leases.give(bed.key(1), 50 * kMiB);  // it came within the deadline, and lay there
    ASSERT_TRUE(*answer);
    EXPECT_EQ((*answer)->why, wire::Why::none);
    // A process that really is silent costs one deadline of the daemon's own time.
    const auto refused = bed.ask(2, 20 * kMiB);
    bed.loop.held_up(1000 * kMs);
    EXPECT_FALSE(*refused);
    bed.loop.advance(201 * kMs);
    EXPECT_TRUE(*refused);
}

TEST(Lease, AsksAreAnsweredInTheirOrder) {
    LeaseBed bed(100 * kMiB);
    for (const int pid : {1, 2, 3}) bed.enter(pid);
    bed.fronts.stopped = {1};
    ASSERT_EQ((*bed.ask(1, 90 * kMiB))->why, wire::Why::none);
    const auto large = bed.ask(2, 60 * kMiB);
    const auto small = bed.ask(3, 4 * kMiB);
    bed.loop.advance(10 * kMs);
    EXPECT_FALSE(*small) << "it would fit, but another came first";
    bed.leases.give(bed.key(1), 80 * kMiB);
    EXPECT_EQ((*large)->why, wire::Why::none);
    EXPECT_EQ((*small)->why, wire::Why::none);
}

TEST(Lease, AnAnswerThatCouldNotBeDeliveredGoesBack) {
    LeaseBed bed(100 * kMiB);
    bed.enter(1);
    for (const auto what : {LeaseAsk::What::lease, LeaseAsk::What::context})
        bed.leases.ask({bed.key(1), what, 10 * kMiB}, [](const LeaseAnswer&) { return false; });
    EXPECT_EQ(bed.leased(), 0U);
}

TEST(Lease, AFullTableRefusesAndLosesNothing) {
    LeaseBed bed(100 * kMiB);
    bed.enter(1);
    ASSERT_EQ((*bed.ask(1, 10 * kMiB))->why, wire::Why::none);
    bed.table.full = true;
    const auto before = bed.leased();
    const auto answer = bed.ask(2, 10 * kMiB);
    EXPECT_EQ((*answer)->why, wire::Why::too_many_processes);
    EXPECT_NE((*answer)->trouble, "");
    EXPECT_EQ(bed.leased(), before);
    EXPECT_EQ((*bed.ask(1, 10 * kMiB))->why, wire::Why::none);
}

TEST(Lease, MemoryOfAnEndedProcessCountsUntilTheDriverShowsItGone) {
    LeaseBed bed(100 * kMiB);
    bed.enter(1);
    bed.enter(2);
    ASSERT_EQ((*bed.ask(1, 90 * kMiB))->why, wire::Why::none);
    bed.fronts.charges[1] = 90 * kMiB;
    bed.gpus.shown[1] = 90 * kMiB;
    bed.leases.process_exited(bed.key(1).process);
    bed.loop.advance(5000 * kMs);
    EXPECT_EQ(bed.leased(), 90 * kMiB) << "a forked child keeps it alive";
    EXPECT_EQ(bed.used(), 90 * kMiB);
    EXPECT_EQ((*bed.ask(1, 2 * kMiB))->why, wire::Why::bad_request);
    bed.gpus.shown.clear();
    bed.loop.advance(200 * kMs);
    EXPECT_EQ(bed.leased(), 0U);
    EXPECT_TRUE(bed.table.records.size() == 1) << "that of process 2";
}

TEST(Lease, AnAskWaitsForAProcessThatIsJustDying) {
    LeaseBed bed(100 * kMiB);
    bed.enter(1);
    bed.enter(2);
    ASSERT_EQ((*bed.ask(1, 90 * kMiB))->why, wire::Why::none);
    bed.fronts.charges[1] = 90 * kMiB;
    bed.gpus.shown[1] = 90 * kMiB;
    bed.leases.process_exited(bed.key(1).process);
    const auto answer = bed.ask(2, 50 * kMiB);
    bed.loop.advance(20 * kMs);
    EXPECT_FALSE(*answer);
    bed.gpus.shown.clear();
    bed.loop.advance(100 * kMs);
    ASSERT_TRUE(*answer);
    EXPECT_EQ((*answer)->why, wire::Why::none);
}

TEST(Lease, ADriverThatCannotBeAskedHoldsNothingUp) {
    LeaseBed bed(100 * kMiB);
    bed.enter(1);
    ASSERT_EQ((*bed.ask(1, 90 * kMiB))->why, wire::Why::none);
    bed.gpus.broken = true;
    bed.leases.process_exited(bed.key(1).process);
    bed.loop.run_posted();
    EXPECT_EQ(bed.leased(), 0U);
    ASSERT_EQ(bed.fronts.gone.size(), 1U);
    EXPECT_FALSE(bed.leases.pools().holds_any(bed.key(1).pool.instance.id));
}

TEST(Lease, APidThatIsUsedAgainDoesNotKeepAnOldLeaseAlive) {
    LeaseBed bed(100 * kMiB);
    bed.enter(1);
    ASSERT_EQ((*bed.ask(1, 40 * kMiB))->why, wire::Why::none);
    bed.gpus.shown[1] = 40 * kMiB;
    bed.leases.process_exited(bed.key(1).process);
    auto reborn = bed.key(1);
    reborn.process.start_time = 2;
    ASSERT_TRUE(bed.leases.process_entered(reborn.pool.instance, reborn.process));
    bed.fronts.charges[1] = 0;
    bed.gpus.shown[1] = 0;
    bed.loop.advance(300 * kMs);
    EXPECT_EQ(bed.leased(), 0U);
}

TEST(Lease, ALimitGoesUpAtOnceAndDownOverWhatIsUsed) {
    LeaseBed bed(100 * kMiB);
    bed.enter(1);
    bed.fronts.spare = [](const LeaseKey&, std::uint64_t bytes) { return bytes; };
    ASSERT_EQ((*bed.ask(1, 90 * kMiB))->why, wire::Why::none);
    bed.fronts.charges[1] = 50 * kMiB;
    bed.set_limit(60 * kMiB);
    bed.loop.run_posted();
    EXPECT_EQ(bed.leased(), 60 * kMiB) << "what was unused above it is recalled";
    bed.set_limit(40 * kMiB);
    EXPECT_EQ((*bed.ask(1, 2 * kMiB))->why, wire::Why::over_limit);
    EXPECT_EQ(bed.excess(), 10 * kMiB);
    bed.set_limit(kGiB);
    EXPECT_EQ((*bed.ask(1, 500 * kMiB))->why, wire::Why::none);
}

TEST(Lease, AnInstanceThatEndsRefusesWhoWaits) {
    LeaseBed bed(100 * kMiB);
    bed.enter(1);
    bed.enter(2);
    bed.fronts.stopped = {1};
    ASSERT_EQ((*bed.ask(1, 90 * kMiB))->why, wire::Why::none);
    const auto answer = bed.ask(2, 50 * kMiB);
    bed.leases.drop_instance(bed.key(1).pool.instance.id);
    ASSERT_TRUE(*answer);
    EXPECT_EQ((*answer)->why, wire::Why::not_managed);
    EXPECT_TRUE(bed.table.records.empty());
    EXPECT_EQ((*bed.ask(2, 2 * kMiB))->why, wire::Why::not_managed);
}

TEST(Lease, AfterAStartAsksWaitForTheDriversFirstAnswer) {
    LeaseBed bed(100 * kMiB);
    bed.leases.wait_for_driver();
    bed.enter(1);
    const auto fits = bed.ask(1, 90 * kMiB);
    const auto too_much = bed.ask(1, 50 * kMiB);
    bed.loop.advance(5 * kSecond);
    EXPECT_FALSE(*fits);
    EXPECT_FALSE(*too_much);
    EXPECT_EQ(bed.leased(), 0U);
    bed.leases.driver_answered();
    bed.loop.advance(kSettled);
    ASSERT_TRUE(*fits);
    EXPECT_EQ((*fits)->why, wire::Why::none);
    ASSERT_TRUE(*too_much);
    EXPECT_EQ((*too_much)->why, wire::Why::over_limit);
}

}  // namespace
}  // namespace cgpu::app::test
