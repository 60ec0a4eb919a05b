// Changes during a run: policies, weights, instances that come, leave, are killed or stopped with work in
// flight.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/core/schedule/machine/schedule_world.hpp"
#include "tests/unit/core/schedule/schedule_tenants.hpp"

namespace cgpu::schedule::sim {
namespace {

using cgpu::model::Policy;

constexpr Nanos kPeriod = 100 * kMilli;  // 20 slices of 5 ms

TEST(Change, OfThePolicyIsInForceWithinAPeriod) {
    const std::vector<std::pair<Policy, std::array<double, 2>>> due = {
        {Policy::preemptive, {0.5, 0.5}},     {Policy::weighted, {0.25, 0.75}},
        {Policy::fixed, {0.2, 0.6}},          {Policy::fair_share, {0.05, 0.05}},
        {Policy::soft, {0.5, 0.5}},           {Policy::weighted, {0.25, 0.75}},
        {Policy::native, {0.5, 0.5}},         {Policy::fixed, {0.2, 0.6}},
        {Policy::proportional, {0.25, 0.75}}, {Policy::preemptive, {0.5, 0.5}}};
    for (const Nanos length : {10 * kMicro, kMilli}) {
        World world(under(Policy::native));
        world.add(floods(length, 4));
        world.add(floods(kMilli, 12));
        world.run_for(kSecond);
        Nanos used = 0;
        for (const auto& [policy, shares] : due) {
            world.slicer().set_policy(policy);
            world.poke();
            world.run_for(kPeriod);
            world.mark();
            world.run_for(4 * kSecond);
            for (const std::size_t i : {0U, 1U}) {
                EXPECT_NEAR(world.share(i), shares[i], 0.015) << to_string(policy) << " " << i;
            }
            world.poke();
            world.run_for(kMilli);
            EXPECT_GT(world.slicer().achieved(0).used, used);
            used = world.slicer().achieved(0).used;
        }
    }
}

TEST(Change, OfWeightsAndMaxInstIsInForceWithinAPeriod) {
    World world(under(Policy::fixed));
    world.add(floods(kMilli, 4));
    world.add(floods(kMilli, 4));
    world.run_for(kSecond);
    world.slicer().set_weight(0, 12);
    world.poke();
    world.run_for(kPeriod);
    world.mark();
    world.run_for(4 * kSecond);
    EXPECT_NEAR(world.share(0), 0.6, 0.015);
    EXPECT_NEAR(world.share(1), 0.2, 0.015);
    world.slicer().set_max_inst(16);
    world.poke();
    world.run_for(kPeriod);
    world.mark();
    world.run_for(4 * kSecond);
    EXPECT_NEAR(world.share(0), 0.75, 0.015);
    EXPECT_NEAR(world.share(1), 0.25, 0.015);
}

TEST(Joining, StartsLevelWithTheOthers) {
    World world(under(Policy::weighted));
    world.add(floods(kMilli));
    world.run_for(30 * kSecond);
    world.add(floods(kMilli));
    world.run_for(kPeriod);
    world.mark();
    world.run_for(kSecond);
    EXPECT_NEAR(world.share(0), world.share(1), 0.01);
}

TEST(Waking, OwesNothingAndIsOwedNothing) {
    for (const Policy policy : {Policy::preemptive, Policy::soft, Policy::weighted, Policy::proportional}) {
        World world(under(policy));
        Tenant late = floods(kMilli);
        late.work.burst = 2'000;
        late.work.think = 5 * kSecond;
        world.add(floods(kMilli));
        world.add(late);
        world.run_for(5 * kSecond);  // the late one has computed for 4 s and pauses now
        ASSERT_LT(world.done(1), 2'001U);
        world.run_for(5 * kSecond);
        world.mark();
        world.run_for(2 * kSecond);
        EXPECT_NEAR(world.share(0), world.share(1), 0.02) << to_string(policy);
    }
}

TEST(Killed, AHolderWithWorkInFlightHoldsUpNobody) {
    for (const Policy policy : {Policy::fair_share, Policy::preemptive, Policy::weighted, Policy::fixed,
                                Policy::soft, Policy::proportional}) {
        for (int round = 0; round < 20; ++round) {
            World world(under(policy));
            const std::size_t victim = world.add(floods(20 * kMilli, 10));
            const std::size_t other = world.add(floods(kMilli, 10));
            world.run_for(kSecond + kMicro * 1'700 * round);
            world.kill(victim);
            world.run_for(50 * kMilli);
            world.mark();
            world.run_for(kSecond);
            const double due = policy == Policy::fair_share ? 0.05 : policy == Policy::fixed ? 0.5 : 1.0;
            EXPECT_NEAR(world.share(other), due, 0.03) << to_string(policy) << " " << round;
        }
    }
}

TEST(Stopped, AProcessWithWorkInFlightIsIgnoredAfterAWhile) {
    for (const auto& [policy, due] :
         {std::pair(Policy::preemptive, 1.0), std::pair(Policy::weighted, 0.5), std::pair(Policy::fixed, 0.5),
          std::pair(Policy::soft, 1.0), std::pair(Policy::proportional, 1.0)}) {
        for (int round = 0; round < 20; ++round) {
            World world(under(policy));
            const std::size_t victim = world.add(floods(20 * kMilli, 10));
            const std::size_t other = world.add(floods(kMilli, 10));
            world.run_for(kSecond + kMicro * 1'700 * round);
            world.freeze(victim);
            world.run_for(kSecond / 2);
            world.mark();
            world.run_for(kSecond);
            EXPECT_NEAR(world.share(other), due, 0.03) << to_string(policy) << " " << round;
        }
    }
}

// Found as ten jobs with kernels of 20 ms that went on beside each other for more than ten seconds after a
// kill of the daemon: what they had launched without it looked like work that they hadn't reported.
TEST(Restart, HonestWorkIsSoonApartAgain) {
    for (const Latency& latency : {kQuiet, kNoisy}) {
        for (const Nanos kernel : {5 * kMilli, 20 * kMilli, 50 * kMilli, 100 * kMilli}) {
            for (const int jobs : {2, 4, 10, 20}) {
                World world(under(Policy::proportional, 25), latency);
                for (int i = 0; i < jobs; ++i) world.add(floods(kernel));
                world.run_for(5 * kSecond);
                world.restart(1500 * kMilli);
                world.run_for(kSecond);
                bool apart = true;
                world.watch_steps([&](Nanos, const Readings& readings, const Decision&) {
                    const auto working = std::ranges::count_if(
                        readings, [](const Reading& reading) { return reading.in_flight_estimate > 0; });
                    apart = apart && working <= 2;  // early hand-overs
                });
                world.run_for(4 * kSecond);
                EXPECT_TRUE(apart) << jobs << " with kernels of " << kernel << " ns";
            }
        }
    }
}

TEST(Idle, CostsNothing) {
    for (const Policy policy : {Policy::fair_share, Policy::preemptive, Policy::weighted, Policy::fixed,
                                Policy::soft, Policy::proportional}) {
        World world(under(policy));
        for (int i = 0; i < 3; ++i) {
            Tenant tenant = floods(kMilli, 2);
            tenant.work.burst = 10;
            tenant.work.think = 3'600 * kSecond;
            world.add(tenant);
        }
        world.run_for(10 * kSecond);
        EXPECT_EQ(world.next_wake(), kForever) << to_string(policy);
        world.mark();
        world.run_for(60 * kSecond);
        EXPECT_EQ(world.steps_per_second(), 0) << to_string(policy);
    }
}

}  // namespace
}  // namespace cgpu::schedule::sim
