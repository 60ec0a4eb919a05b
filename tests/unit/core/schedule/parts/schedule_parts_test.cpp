#include <gtest/gtest.h>

#include <limits>

#include "core/schedule/parts/drain_trust.hpp"
#include "core/schedule/parts/priority_bucket.hpp"
#include "core/schedule/parts/reading_filter.hpp"
#include "core/schedule/parts/undrained_work.hpp"
#include "core/schedule/parts/virtual_time.hpp"

namespace cgpu::schedule {
namespace {

constexpr Nanos kHuge = std::numeric_limits<Nanos>::max();

Reading used(Nanos ns, bool wants = true) {
    Reading r;
    r.wants = wants;
    r.used = ns;
    return r;
}

TEST(ReadingFilter, TheFirstReadingOnlySetsTheBase) {
    ReadingFilter filter;
    EXPECT_EQ(filter.read(used(7 * kSecond), kSecond), 0);
    EXPECT_EQ(filter.read(used(7 * kSecond + kMilli), 2 * kMilli), kMilli);
}

TEST(ReadingFilter, NobodyUsedMoreThanTheWallTime) {
    ReadingFilter filter;
    filter.read(used(0), 0);
    EXPECT_EQ(filter.read(used(kHuge), kMilli), kMilli);
    EXPECT_EQ(filter.read(used(kHuge), kMilli), 0);
}

TEST(ReadingFilter, ALongKernelIsBelievedAsALongAsItWasBusy) {
    ReadingFilter filter;
    filter.read(used(0), 0);
    for (int i = 0; i < 9; ++i) EXPECT_EQ(filter.read(used(0), kMilli), 0);
    EXPECT_EQ(filter.read(used(10 * kMilli), kMilli), 10 * kMilli);
}

TEST(ReadingFilter, TimeWithoutWorkIsNotBelievedLater) {
    ReadingFilter filter;
    filter.read(used(0, false), 0);
    filter.read(used(0, false), kSecond);
    EXPECT_EQ(filter.read(used(kSecond), kMilli), kMilli);
}

TEST(ReadingFilter, JumpingBackIsANewStart) {
    ReadingFilter filter;
    filter.read(used(kSecond), 0);
    EXPECT_EQ(filter.read(used(0), kMilli), 0);
    EXPECT_EQ(filter.read(used(kMilli), kMilli), kMilli);
    EXPECT_EQ(filter.read(used(-kHuge), kMilli), 0);
}

TEST(ReadingFilter, ClaimsStayWithinBounds) {
    ReadingFilter filter;
    Reading claim;
    claim.used = claim.in_flight_estimate = claim.remaining = claim.usual_gap = kHuge;
    filter.read(claim, 0);
    EXPECT_GT(filter.reached(), 0);
    EXPECT_LE(filter.level().remaining, filter.level().in_flight_estimate);
    claim.used = claim.in_flight_estimate = claim.remaining = claim.usual_gap = -kHuge;
    filter.read(claim, 0);
    EXPECT_EQ(filter.reached(), 0);
    EXPECT_EQ(filter.level().remaining, 0);
    EXPECT_EQ(filter.level().usual_gap, 0);
}

TEST(ReadingFilter, SaysForHowLongNothingHasMoved) {
    ReadingFilter filter;
    Reading claim;
    claim.in_flight_estimate = claim.remaining = 5 * kMilli;
    filter.read(claim, kMilli);
    EXPECT_EQ(filter.stalled(), 0);
    filter.read(claim, kMilli);
    filter.read(claim, kMilli);
    EXPECT_EQ(filter.stalled(), 2 * kMilli);
    claim.remaining -= kMicro;
    filter.read(claim, kMilli);
    EXPECT_EQ(filter.stalled(), 0);
    claim.in_flight_estimate += kMilli;
    claim.remaining += kMilli;
    filter.read(claim, kMilli);
    EXPECT_EQ(filter.stalled(), 0) << "more was launched";
    claim.used += kMilli;
    filter.read(claim, kMilli);
    EXPECT_EQ(filter.stalled(), 0) << "something was measured";
    claim.in_flight_estimate = claim.remaining = 0;
    filter.read(claim, kMilli);
    filter.read(claim, kMilli);
    EXPECT_EQ(filter.stalled(), 0) << "nothing runs";
}

TEST(ReadingFilter, AStalePageWantsNothing) {
    ReadingFilter filter;
    Reading claim = used(0);
    claim.in_flight_estimate = claim.remaining = kSecond;
    filter.read(claim, 0);
    EXPECT_TRUE(filter.busy());
    claim.stale = true;
    filter.read(claim, 0);
    EXPECT_FALSE(filter.busy());
}

TEST(DrainTrust, IsEarnedByGoodPredictionsAndLostByOneBadOne) {
    DrainTrust trust;
    EXPECT_FALSE(trust.good(250 * kMicro));
    Nanos now = 0;
    for (int i = 0; i < 10; ++i) {
        trust.predict(now + kMilli);
        now += kMilli + 30 * kMicro;
        trust.drained(now);
        trust.drained(now + kSecond);  // nothing was predicted: nothing learnt
    }
    EXPECT_TRUE(trust.good(250 * kMicro));
    trust.predict(now);
    trust.drained(now + kSecond);
    EXPECT_FALSE(trust.good(250 * kMicro));
}

TEST(PriorityBucket, GivesTheRatioExactlyOverAnyLongTime) {
    PriorityBucket bucket;
    bucket.resize(30, 100 * kMilli);
    EXPECT_EQ(bucket.level(), 30 * kMilli);
    Nanos taken = 0;
    for (int i = 0; i < 100'000; ++i) {
        bucket.pass(99'991);
        if (bucket.level() < 2 * kMilli) continue;
        bucket.charge(2 * kMilli);
        taken += 2 * kMilli;
    }
    const Nanos due = 100'000 * Nanos{99'991} * 30 / 100 + 30 * kMilli;
    EXPECT_LE(taken, due);
    EXPECT_GT(taken, due - 4 * kMilli);
}

TEST(PriorityBucket, OverdrawsAtMostWhatItHolds) {
    PriorityBucket bucket;
    bucket.resize(50, 100 * kMilli);
    bucket.charge(kHuge);
    EXPECT_EQ(bucket.level(), -50 * kMilli);
    EXPECT_EQ(bucket.lasts(), 0);
    const Nanos wait = bucket.time_to(2 * kMilli);
    EXPECT_NEAR(static_cast<double>(wait), 104e6, 10);
    bucket.pass(wait);
    EXPECT_GE(bucket.level(), 2 * kMilli);
    bucket.pass(kHuge);
    EXPECT_EQ(bucket.level(), 50 * kMilli);
}

TEST(VirtualTime, DebtStaysTheSameInGpuTimeWhenTheWeightChanges) {
    VirtualTime times;
    times.set_weight(0, 2);
    times.charge(0, 8 * kMilli, kSecond);
    EXPECT_DOUBLE_EQ(times.at(0), 4e6);
    times.set_weight(0, 4);
    EXPECT_DOUBLE_EQ(times.at(0), 2e6);
}

TEST(VirtualTime, DebtIsCapped) {
    VirtualTime times;
    times.set_weight(3, 2);
    times.charge(3, kHuge, 100 * kMilli);
    EXPECT_DOUBLE_EQ(times.at(3), 50e6);
}

TEST(VirtualTime, TimePassesForTheOneFurthestBehindFirst) {
    VirtualTime times;
    VirtualTime::Entries idle;
    for (const std::size_t i : {0U, 1U, 2U}) {
        times.set_weight(i, static_cast<int>(i) + 1);
        idle[i] = true;
    }
    times.charge(0, 1000, kSecond);  // at 1000
    times.charge(1, 1000, kSecond);  // at 500
    times.pass(1'500, idle);         // brings the third to 500
    EXPECT_DOUBLE_EQ(times.at(2), 500);
    EXPECT_DOUBLE_EQ(times.at(1), 500);
    times.pass(500 * 5 + 600, idle);  // all to 1000, and 600 over six
    for (const std::size_t i : {0U, 1U, 2U}) EXPECT_DOUBLE_EQ(times.at(i), 1100);
}

TEST(VirtualTime, SaysHowLongOthersAreBehind) {
    VirtualTime times;
    VirtualTime::Entries idle;
    times.set_weight(0, 1);
    times.set_weight(VirtualTime::kSpare, 19);
    idle[VirtualTime::kSpare] = true;
    times.charge(0, 5 * kMilli, kSecond);
    EXPECT_EQ(times.time_until_next(0, 0, idle), 95 * kMilli);
    times.pass(95 * kMilli, idle);
    EXPECT_EQ(times.time_until_next(0, 0, idle), 0);
}

TEST(VirtualTime, WhoComesBackIsOwedNothing) {
    VirtualTime times;
    times.set_weight(0, 1);
    times.set_weight(1, 1);
    times.charge(0, kSecond, kHuge / 2);
    times.advance_clock(0);
    times.catch_up(1);
    EXPECT_DOUBLE_EQ(times.at(1), 1e9);
    times.enter(2);
    EXPECT_DOUBLE_EQ(times.at(2), 1e9);
}

constexpr UndrainedWork::Limits kLimits{2 * kMilli, 10 * kMilli};

TEST(UndrainedWork, WhatWasPredictedIsChargedAsItRuns) {
    UndrainedWork undrained;
    undrained.add(4, 0, {100 * kMicro, 400 * kMicro, 0, 0, true}, kLimits);
    EXPECT_TRUE(undrained.any());
    EXPECT_EQ(undrained.pass(60 * kMicro, 60 * kMicro).charged[4], 60 * kMicro);
    EXPECT_EQ(undrained.pass(60 * kMicro, 60 * kMicro).charged[4], 40 * kMicro);
    EXPECT_EQ(undrained.pass(kMilli, kMilli).charged[4], 0);  // drained but not reported yet
    EXPECT_EQ(undrained.absorb(4, 500 * kMicro), 0);
    EXPECT_EQ(undrained.settle(4, 1'120 * kMicro).charge, 0);
    EXPECT_FALSE(undrained.is(4));
}

TEST(UndrainedWork, LateOnesShareTheGpuWithTheHolder) {
    UndrainedWork undrained;
    undrained.add(0, 0, {0, 0, 0, 0, true}, kLimits);
    undrained.add(1, 0, {0, 0, 0, 0, true}, kLimits);
    EXPECT_EQ(undrained.pass(3 * kMilli, 3 * kMilli).charged[0], 0) << "the holder's slice, and a report";
    const auto taken = undrained.pass(6 * kMilli, 6 * kMilli).charged;
    EXPECT_EQ(taken[0], 3 * kMilli) << "a third of all, the first slice included";
    EXPECT_EQ(taken[1], 3 * kMilli);
    EXPECT_EQ(undrained.pass(kSecond, kSecond).charged[0], kLimits.most_overrun - 3 * kMilli)
        << "not for ever";
    EXPECT_EQ(undrained.pass(kSecond, kSecond).charged[0], 0);
}

// Found as a light tenant that got a point too much: when a step followed, half of a slice that the driver
// gave to the next holder was charged to the last one.
TEST(UndrainedWork, ASliceOfTheNextHolderIsNotTheirs) {
    UndrainedWork undrained;
    undrained.add(0, 0, {90 * kMicro, 300 * kMicro, 0, 0, true}, kLimits);
    EXPECT_EQ(undrained.pass(2'540 * kMicro, 2'540 * kMicro).charged[0], 90 * kMicro);
    undrained.absorb(0, 2'490 * kMicro);
    EXPECT_EQ(undrained.settle(0, 2'540 * kMicro).charge, 0);
}

TEST(UndrainedWork, ItDoesNotMatterHowManyStepsThereAre) {
    for (const Nanos step : {5 * kMilli, kMilli, 250 * kMicro}) {
        UndrainedWork undrained;
        undrained.add(0, 0, {kMilli, 0, 0, 0, true}, kLimits);
        Nanos taken = 0;
        for (Nanos time = 0; time < 15 * kMilli; time += step) taken += undrained.pass(step, step).charged[0];
        EXPECT_EQ(taken, 8 * kMilli) << step;
    }
}

TEST(UndrainedWork, TheSumEndsWithinWhatTheMeasurementAllows) {
    UndrainedWork undrained;
    // 20 ms of work that was estimated as 1 ms, and ran beside others' for 4 ms: at least 16 ms were its own.
    undrained.add(0, 0, {0, kMilli, 0, 0, true}, {2 * kMilli, 0});
    undrained.pass(2 * kMilli, 2 * kMilli);
    undrained.pass(2 * kMilli, 2 * kMilli);
    undrained.absorb(0, 20 * kMilli);
    EXPECT_EQ(undrained.settle(0, 4 * kMilli).charge, 15 * kMilli);
    // 1 ms of work that was estimated as 3 ms is paid back, as far as that is allowed.
    undrained.add(0, 0, {0, 3 * kMilli, 3 * kMilli, 0, true}, kLimits);
    undrained.absorb(0, kMilli);
    EXPECT_EQ(undrained.settle(0, 4 * kMilli).charge, -2 * kMilli);
    undrained.add(0, 0, {0, 3 * kMilli, kMilli, 0, true}, kLimits);
    EXPECT_EQ(undrained.settle(0, 4 * kMilli).charge, -kMilli);
}

TEST(UndrainedWork, OneThatGetsATurnAgainIsNotChargedTwice) {
    UndrainedWork undrained;
    undrained.add(0, 0, {0, 3 * kMilli, 0, 0, true}, kLimits);
    undrained.resume(0);
    EXPECT_FALSE(undrained.is(0));
    EXPECT_EQ(undrained.absorb(0, 2 * kMilli), 0);
    EXPECT_EQ(undrained.absorb(0, 2 * kMilli), kMilli);
}

// Found as 16 points too much for kernels of 700 ms: the charges of the turns before the last one were
// charged again when such a kernel was measured.
TEST(UndrainedWork, OneThatGetsTwoTurnsIsChargedOnceForEach) {
    UndrainedWork undrained;
    undrained.add(0, 0, {0, 200 * kMilli, 0, 0, true}, kLimits);
    undrained.resume(0);
    undrained.add(0, 0, {0, 300 * kMilli, 0, 0, true}, kLimits);
    undrained.resume(0);
    EXPECT_EQ(undrained.absorb(0, 700 * kMilli), 200 * kMilli);
}

TEST(UndrainedWork, WhatOthersTookMeanwhileIsNotItsOwn) {
    // 400 ms in its turn, of which 100 belong to other undrained work, and 20 of its own beside the next
    // holder's 20.
    const UndrainedWork::Remains remains{20 * kMilli, 300 * kMilli, 0, 100 * kMilli, true};
    UndrainedWork undrained;
    undrained.add(0, 0, remains, {0, kMilli});
    EXPECT_EQ(undrained.pass(40 * kMilli, 40 * kMilli).charged[0], 20 * kMilli);
    undrained.absorb(0, 440 * kMilli);
    EXPECT_EQ(undrained.settle(0, 40 * kMilli).charge, 0);
    // The same if it gets a turn before that is measured, and then 10 ms of its own.
    undrained.add(0, 0, remains, {0, kMilli});
    EXPECT_EQ(undrained.pass(40 * kMilli, 40 * kMilli).charged[0], 20 * kMilli);
    undrained.resume(0);
    EXPECT_EQ(undrained.absorb(0, 440 * kMilli), 0);
    EXPECT_EQ(undrained.absorb(0, 10 * kMilli), 10 * kMilli);
}

// Found as 33 points too little for kernels of 700 ms beside an instance that is mostly idle.
TEST(UndrainedWork, BesideAHolderWithLittleWorkItHasTheRest) {
    UndrainedWork undrained;
    undrained.add(0, 0, {kSecond, 0, 0, 0, true}, kLimits);
    EXPECT_EQ(undrained.pass(10 * kMilli, 0).charged[0], 10 * kMilli);
    EXPECT_EQ(undrained.pass(10 * kMilli, 2 * kMilli).charged[0], 8 * kMilli);
    EXPECT_EQ(undrained.pass(10 * kMilli, 10 * kMilli).charged[0], 5 * kMilli);
}

TEST(UndrainedWork, HowMuchLongerItRanThanEstimatedIsKnownWhenItIsMeasured) {
    UndrainedWork undrained;
    undrained.add(0, 0, {0, kMilli, 0, 0, true}, kLimits);
    // No more is charged while that isn't known, but it isn't taken for that of others either.
    const auto passed = undrained.pass(400 * kMilli, 400 * kMilli);
    EXPECT_EQ(passed.charged[0], kLimits.most_overrun);
    EXPECT_EQ(passed.ran[0], 200 * kMilli);
    undrained.absorb(0, 400 * kMilli);
    const auto correction = undrained.settle(0, 400 * kMilli);
    EXPECT_EQ(correction.charge, 190 * kMilli);
    EXPECT_EQ(correction.use, 0);
}

TEST(UndrainedWork, WhatRanIsCountedOnceIfItGetsATurnAgain) {
    UndrainedWork undrained;
    undrained.add(0, 0, {0, kMilli, 0, 0, true}, kLimits);
    EXPECT_EQ(undrained.pass(400 * kMilli, 400 * kMilli).ran[0], 200 * kMilli);
    undrained.resume(0);
    const Nanos charged = undrained.absorb(0, 450 * kMilli);
    EXPECT_EQ(charged, 450 * kMilli - (kMilli + kLimits.most_overrun) - 200 * kMilli);
    EXPECT_EQ(undrained.counted(0, charged), 190 * kMilli);
    EXPECT_EQ(undrained.counted(0, charged), 0);
}

// A page stands still while its process waits for a kernel that takes longer than estimated, too.
TEST(UndrainedWork, ThatOfAStoppedProcessCountsWhenItIsMeasured) {
    UndrainedWork undrained;
    undrained.add(0, 0, {0, kMilli, 0, 0, true}, kLimits);
    undrained.set_stopped(0, true);
    EXPECT_FALSE(undrained.any());
    EXPECT_FALSE(undrained.is(0));
    EXPECT_EQ(undrained.pass(400 * kMilli, 400 * kMilli).charged[0], 0);
    undrained.set_stopped(0, false);
    EXPECT_TRUE(undrained.is(0));
    undrained.absorb(0, 390 * kMilli);
    EXPECT_EQ(undrained.settle(0, 400 * kMilli).charge, 200 * kMilli);
    // It was really stopped: its kernel took no more than what was measured.
    undrained.add(0, 0, {0, kMilli, 0, 0, true}, kLimits);
    undrained.set_stopped(0, true);
    undrained.pass(kSecond, 0);
    undrained.set_stopped(0, false);
    undrained.absorb(0, 20 * kMilli);
    EXPECT_EQ(undrained.settle(0, kSecond).charge, 19 * kMilli);
}

}  // namespace
}  // namespace cgpu::schedule
