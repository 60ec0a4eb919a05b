// The differences between the policies, in virtual time.
#include <gtest/gtest.h>

#include "tests/unit/core/schedule/machine/schedule_world.hpp"
#include "tests/unit/core/schedule/schedule_scale.hpp"
#include "tests/unit/core/schedule/schedule_tenants.hpp"

namespace cgpu::schedule::sim {
namespace {

using cgpu::model::Policy;

Tenant bursts(Nanos kernel, int count, Nanos think, int weight = 1) {
    Tenant tenant = floods(kernel, weight);
    tenant.work.burst = count;
    tenant.work.think = think;
    return tenant;
}

// Launches once and has no work for the rest of the run.
Tenant idles(int weight = 1) { return bursts(10 * kMicro, 1, 3'600 * kSecond, weight); }

const std::vector<Nanos> kLengths = {10 * kMicro, kMilli, 20 * kMilli};

TEST(Fixed, CapsALoneInstanceAtItsWeight) {
    for (const Nanos length : kLengths) {
        for (const int weight : {1, 5, 19}) {
            World world(under(Policy::fixed));
            world.add(floods(length, weight));
            world.run_for(20 * kSecond * test_scale());
            EXPECT_NEAR(world.share(0), weight / 20.0, 0.005) << length << " " << weight;
        }
    }
}

TEST(Fixed, GivesAllOfItToAllOfTheSlices) {
    World world(under(Policy::fixed));
    world.add(floods(kMilli, 20));
    world.run_for(5 * kSecond);
    EXPECT_GE(world.busy(), 0.99);
}

TEST(Fixed, TheFloorHoldsAgainstAnInstanceThatCantFillItsTurns) {
    World world(under(Policy::fixed));
    Tenant slow = floods(10 * kMicro, 10);
    slow.work.launch_cost = 50 * kMicro;
    world.add(slow);
    world.add(floods(kMilli, 10));
    world.run_for(10 * kSecond);
    EXPECT_NEAR(world.share(1), 0.5, 0.01);
}

TEST(Fixed, AnIdleNeighboursSlicesStayIdle) {
    World world(under(Policy::fixed));
    world.add(floods(kMilli, 4));
    world.add(idles(16));
    world.run_for(kSecond);
    world.mark();
    world.run_for(10 * kSecond);
    EXPECT_NEAR(world.share(0), 0.2, 0.005);
}

TEST(Fixed, BurstsGetWhatFitsIntoTheirTurnsAndNoMore) {
    World world(under(Policy::fixed));
    // It wants half of the GPU and its target is a quarter: one burst of 20 ms fits into each of its turns of
    // 25 ms, and the rest of the turn isn't saved up.
    world.add(bursts(kMilli, 20, 20 * kMilli, 5));
    world.run_for(20 * kSecond);
    EXPECT_LE(world.share(0), 0.25);
    EXPECT_GE(world.share(0), 0.195);
}

TEST(FairShare, GivesEachOneSlotWhateverTheWeight) {
    for (const Nanos length : kLengths) {
        World world(under(Policy::fair_share, 5));
        world.add(floods(length, 3));
        world.add(floods(kMilli, 1));
        world.run_for(20 * kSecond * test_scale());
        EXPECT_NEAR(world.share(0), 0.2, 0.01) << length;
        EXPECT_NEAR(world.share(1), 0.2, 0.01) << length;
    }
}

TEST(Weighted, AnIdlePresentNeighbourBurnsItsShare) {
    for (const int weight : {1, 3}) {
        World world(under(Policy::weighted));
        world.add(floods(kMilli, 1));
        world.add(idles(weight));
        world.run_for(kSecond);
        world.mark();
        world.run_for(10 * kSecond);
        EXPECT_NEAR(world.share(0), 1.0 / (1 + weight), 0.01);
    }
}

TEST(Weighted, AloneItGetsTheWholeGpu) {
    World world(under(Policy::weighted));
    const std::size_t first = world.add(floods(kMilli, 1));
    const std::size_t second = world.add(idles(4));
    world.run_for(kSecond);
    world.kill(second);
    world.mark();
    world.run_for(kSecond);
    EXPECT_GE(world.share(first), 0.97);
}

TEST(Weighted, TwoToOneTurnsFourTimesAsOftenAsEightToFour) {
    const auto turns = [](int unit) {
        World world(under(Policy::weighted));
        world.add(floods(kMilli, 2 * unit));
        world.add(floods(kMilli, unit));
        world.run_for(10 * kSecond);
        EXPECT_NEAR(world.share(0) / world.busy(), 2.0 / 3, 0.01);
        return static_cast<double>(world.slicer().achieved(0).turns);
    };
    EXPECT_NEAR(turns(1) / turns(4), 4.0, 0.2);
}

TEST(Preemptive, SkipsThoseWithoutWork) {
    World world(under(Policy::preemptive));
    world.add(floods(kMilli));
    world.add(idles());
    world.add(floods(kMilli));
    world.run_for(kSecond);
    world.mark();
    world.run_for(10 * kSecond);
    EXPECT_NEAR(world.share(0), 0.5, 0.01);
    EXPECT_NEAR(world.share(2), 0.5, 0.01);
}

TEST(Preemptive, AWakingInstanceDoesntWaitForATurnsEnd) {
    World world(under(Policy::preemptive));
    const std::size_t waking = world.add(bursts(200 * kMicro, 5, 30 * kMilli));
    world.add(floods(kMilli));
    world.run_for(20 * kSecond);
    const auto delays = world.delays(waking);
    ASSERT_GT(delays.size(), 300U);
    EXPECT_LT(delays[delays.size() * 99 / 100], 4 * kMilli);
}

// The GPU would be 95..99 % busy if the driver mixed them freely; exclusive turns lose the holder's waits.
TEST(Soft, KeepsTheGpuBusierThanPreemptiveWhenHoldersPause) {
    const auto busy = [](Policy policy) {
        World world(under(policy));
        world.add(bursts(50 * kMicro, 20, 200 * kMicro));
        world.add(bursts(50 * kMicro, 20, 200 * kMicro));
        world.run_for(10 * kSecond);
        return world.busy();
    };
    EXPECT_GT(busy(Policy::soft), busy(Policy::preemptive) + 0.02);
    EXPECT_GT(busy(Policy::soft), 0.91);
}

TEST(Soft, AimsAtEqualSharesAndGivesTheGpuBackInABoundedTime) {
    for (const Nanos length : kLengths) {
        World world(under(Policy::soft));
        world.add(floods(length));
        world.add(floods(kMilli));
        const std::size_t waking = world.add(bursts(200 * kMicro, 5, 50 * kMilli));
        world.run_for(10 * kSecond);
        EXPECT_NEAR(world.share(0), world.share(1), 0.03) << length;
        const auto delays = world.delays(waking);
        ASSERT_GT(delays.size(), 100U);
        EXPECT_LT(delays.back(), 50 * kMilli) << length;
    }
}

TEST(Native, GatesNothing) {
    World world(under(Policy::native));
    world.add(floods(10 * kMicro));
    world.add(floods(kMilli, 0));
    world.run_for(kSecond);
    EXPECT_NEAR(world.share(0), world.share(1), 0.02);
    EXPECT_EQ(world.next_wake(), kForever);
}

TEST(AnyPolicy, WeightZeroCantComputeAndBothersNobody) {
    for (const Policy policy : {Policy::fair_share, Policy::preemptive, Policy::weighted, Policy::fixed,
                                Policy::soft, Policy::proportional}) {
        World world(under(policy, 1));
        world.add(floods(kMilli, 0));
        world.add(floods(kMilli, 1));
        world.run_for(2 * kSecond);
        EXPECT_EQ(world.done(0), 0U) << to_string(policy);
        EXPECT_GE(world.share(1), 0.97) << to_string(policy);
        world.poke();
        world.run_for(kMilli);
        EXPECT_GT(world.slicer().achieved(0).waited, kSecond) << to_string(policy);
    }
}

TEST(AnyPolicy, WhatIsChargedIsWhatTheGpuDid) {
    for (const Policy policy :
         {Policy::fair_share, Policy::preemptive, Policy::weighted, Policy::fixed, Policy::proportional}) {
        for (const Nanos length : kLengths) {
            World world(under(policy, 4));
            world.add(floods(length, 1));
            world.add(floods(kMilli, 2));
            world.run_for(10 * kSecond);
            for (const std::size_t i : {0U, 1U}) {
                const double charged = static_cast<double>(world.slicer().achieved(i).used) / 1e10;
                EXPECT_NEAR(charged, world.share(i), 0.01) << to_string(policy) << " " << length << " " << i;
                // What is billed at least, whatever was reported: four fifths of it, and never more than all.
                const double granted = static_cast<double>(world.slicer().achieved(i).granted) / 1e10;
                EXPECT_LE(granted, world.share(i) + 0.01) << to_string(policy) << " " << length << " " << i;
                EXPECT_GE(granted, 0.75 * world.share(i) - 0.02)
                    << to_string(policy) << " " << length << " " << i;
            }
        }
    }
}

TEST(TargetShare, IsTheTablesRow) {
    const auto shares = [](Policy policy) {
        World world(under(policy, 10));
        world.add(floods(kMilli, 1));
        world.add(floods(kMilli, 3));
        world.add(idles(4));
        world.run_for(kSecond);
        std::vector<double> out;
        for (const std::size_t i : {0U, 1U, 2U}) out.push_back(world.slicer().target_share(i).value());
        return out;
    };
    EXPECT_EQ(shares(Policy::fair_share), (std::vector<double>{0.1, 0.1, 0.1}));
    EXPECT_EQ(shares(Policy::preemptive), (std::vector<double>{0.5, 0.5, 0.0}));
    EXPECT_EQ(shares(Policy::weighted), (std::vector<double>{0.125, 0.375, 0.5}));
    EXPECT_EQ(shares(Policy::fixed), (std::vector<double>{0.1, 0.3, 0.4}));
    EXPECT_EQ(shares(Policy::soft), (std::vector<double>{0.5, 0.5, 0.0}));
    EXPECT_EQ(shares(Policy::proportional), (std::vector<double>{0.25, 0.75, 0.0}));
    EXPECT_FALSE(Slicer(under(Policy::native)).target_share(0));
}

}  // namespace
}  // namespace cgpu::schedule::sim
