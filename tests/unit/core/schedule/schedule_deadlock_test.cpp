// Kernels that wait for each other's start, separated by gates: all of them finish within a bounded time.
#include <gtest/gtest.h>

#include "tests/unit/core/schedule/machine/schedule_world.hpp"
#include "tests/unit/core/schedule/schedule_tenants.hpp"

namespace cgpu::schedule::sim {
namespace {

using cgpu::model::Policy;

Tenant meeting(const std::shared_ptr<Rendezvous>& rendezvous, std::size_t side, Nanos length, int weight) {
    Tenant tenant;
    tenant.work.kernels = {length};
    tenant.work.rendezvous = rendezvous;
    tenant.work.side = side;
    tenant.weight = weight;
    return tenant;
}

class Meeting : public testing::TestWithParam<Policy> {};

TEST_P(Meeting, AcrossTwoGpusAmongOthersIsDone) {
    for (const Nanos length : {100 * kMicro, 5 * kMilli}) {
        World world(under(GetParam()), kQuiet, 2);
        const auto rendezvous = std::make_shared<Rendezvous>();
        for (const std::size_t gpu : {0U, 1U}) {
            world.add(meeting(rendezvous, gpu, length, 5), gpu);
            world.add(floods(kMilli, 5), gpu);
            world.add(floods(20 * kMilli, 5), gpu);
        }
        std::uint64_t before = 0;
        for (int i = 0; i < 5; ++i) {
            world.run_for(4 * kSecond);
            const std::uint64_t done = std::min(world.done(0, 0), world.done(0, 1));
            EXPECT_GT(done, before) << length;
            before = done;
        }
        EXPECT_GT(world.share(1, 0), 0.02) << "the others go on too";
    }
}

TEST_P(Meeting, OfTwoInstancesWithAGpuEachInTheOtherOrderIsDone) {
    World world(under(GetParam()), kQuiet, 2);
    const auto first = std::make_shared<Rendezvous>();
    const auto second = std::make_shared<Rendezvous>();
    // The first one to run holds one GPU and waits for the other, which the other instance holds.
    world.add(meeting(first, 0, kMilli, 5), 0);
    world.add(meeting(second, 1, kMilli, 5), 1);
    world.run_for(kMilli);
    world.add(meeting(second, 0, kMilli, 5), 0);
    world.add(meeting(first, 1, kMilli, 5), 1);
    world.run_for(20 * kSecond);
    // The smallest value is that of fair-share: a twentieth of each GPU, and the turns on the two don't
    // coincide.
    for (const std::size_t slot : {0U, 1U}) {
        for (const std::size_t gpu : {0U, 1U}) EXPECT_GT(world.done(slot, gpu), 20U) << slot << " " << gpu;
    }
}

TEST_P(Meeting, OfTwoInstancesOnOneGpuIsDone) {
    World world(under(GetParam()));
    const auto rendezvous = std::make_shared<Rendezvous>();
    world.add(meeting(rendezvous, 0, 100 * kMicro, 5));
    world.add(meeting(rendezvous, 1, 100 * kMicro, 5));
    world.run_for(20 * kSecond);
    EXPECT_GT(world.done(0), 50U);
    EXPECT_GT(world.done(1), 50U);
}

TEST_P(Meeting, AKernelThatNeverEndsLetsTheOthersThrough) {
    World world(under(GetParam()));
    const auto nobody_comes = std::make_shared<Rendezvous>();
    world.add(meeting(nobody_comes, 0, kMilli, 5));
    world.run_for(100 * kMilli);
    world.add(floods(kMilli, 5));
    world.add(floods(kMilli, 5));
    world.run_for(kSecond);
    std::array<std::uint64_t, 3> before{};
    for (int i = 0; i < 5; ++i) {
        world.run_for(3 * kSecond);
        for (const std::size_t slot : {1U, 2U}) {
            EXPECT_GT(world.done(slot), before[slot]);
            before[slot] = world.done(slot);
        }
    }
    // The driver still gives it half of the time: a gate can only divide the other half.
    if (GetParam() == Policy::preemptive || GetParam() == Policy::soft ||
        GetParam() == Policy::proportional) {
        EXPECT_GT(world.share(1) + world.share(2), 0.4);
    }
}

INSTANTIATE_TEST_SUITE_P(Policies, Meeting,
                         testing::Values(Policy::fair_share, Policy::preemptive, Policy::weighted,
                                         Policy::fixed, Policy::soft, Policy::native, Policy::proportional),
                         [](const auto& policy) {
                             std::string name(to_string(policy.param));
                             std::erase(name, '-');
                             return name;
                         });

}  // namespace
}  // namespace cgpu::schedule::sim
