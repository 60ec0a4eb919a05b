// Turns of an instance on all of its GPUs coincide, if its kernels wait for each other.
#include "tests/unit/core/schedule/machine/schedule_world.hpp"
#include "tests/unit/core/schedule/schedule_steps.hpp"
#include "tests/unit/core/schedule/schedule_tenants.hpp"

namespace cgpu::schedule {
namespace {

using cgpu::model::Policy;
using State = GateOrder::State;

class Gang : public Steps {
  protected:
    Gang() { at(kSecond); }
    /// Slot 0 has 1 ms of work behind its closed gate, slot 1 holds the GPU.
    void catch_first() {
        readings_[0].wants = true;
        after(kMilli);
        readings_[1].wants = true;
        launch(0, kMilli);
        after(5 * kMilli);
        ASSERT_EQ(gate(0), State::closed);
        after(kMilli / 2);
    }
};

TEST_F(Gang, IsWhoseWorkWaitsWhileALaunchIsHeldElsewhere) {
    gangs_[0].busy = gangs_[0].wants = true;
    catch_first();
    after(5 * kMilli);
    EXPECT_FALSE(slicer_.tell(0).stuck) << "a millisecond of work may take two, and 5 ms more are forgiven";
    EXPECT_FALSE(slicer_.tell(0).waits_across_gpus);
    EXPECT_LE(last_.wake_at, now_ + 2 * kMilli) << "nobody else would say that nothing happens";
    after(2 * kMilli);
    EXPECT_TRUE(slicer_.tell(0).stuck);
    EXPECT_TRUE(slicer_.tell(0).waits_across_gpus);
    drain(0);
    after(0);
    launch(0, kMilli);
    after(0);
    after(kMilli + kMilli / 2);
    EXPECT_FALSE(slicer_.tell(0).stuck);
    after(kMilli);
    EXPECT_TRUE(slicer_.tell(0).stuck) << "of one that is known for it, sooner";
    drain(0);
    gangs_[0].wants = false;
    after(9 * kSecond);
    EXPECT_FALSE(slicer_.tell(0).stuck);
    EXPECT_TRUE(slicer_.tell(0).waits_across_gpus);
    after(2 * kSecond);
    EXPECT_FALSE(slicer_.tell(0).waits_across_gpus) << "for ten seconds";
}

TEST_F(Gang, IsNobodyWhoOnlyDrainsSlowly) {
    gangs_[0].busy = true;
    catch_first();
    after(20 * kMilli);
    EXPECT_TRUE(slicer_.tell(0).stuck);
    EXPECT_FALSE(slicer_.tell(0).waits_across_gpus) << "nothing of it is held elsewhere";
}

TEST_F(Gang, IsNobodyWhoseWorkWasNeverMeasured) {
    gangs_[0].busy = gangs_[0].wants = true;
    readings_[0].unmeasured = true;
    catch_first();
    after(40 * kMilli);
    EXPECT_FALSE(slicer_.tell(0).waits_across_gpus) << "how long it takes was a guess";
    after(20 * kMilli);
    EXPECT_TRUE(slicer_.tell(0).waits_across_gpus);
}

TEST_F(Gang, StuckWorkMovesOnWithEveryPieceThatIsDone) {
    gangs_[0].busy = gangs_[0].wants = true;
    catch_first();
    for (int i = 0; i < 20; ++i) {
        readings_[0].used += 50 * kMicro;
        readings_[0].in_flight_estimate -= 25 * kMicro;
        after(kMilli);
        EXPECT_FALSE(slicer_.tell(0).stuck) << i;
    }
}

TEST_F(Gang, WhoIsStuckElsewhereIsLetThroughForOneLaunchAndChargedForIt) {
    readings_[1].wants = true;
    after(kMilli);
    ASSERT_EQ(gate(1), State::open);
    readings_[0].wants = true;
    gangs_[0].busy = true;
    after(kMilli);
    EXPECT_EQ(gate(0), State::closed);
    gangs_[0].stuck = true;
    after(kMilli);
    ASSERT_EQ(gate(0), State::open) << "although it is the other one's turn";
    EXPECT_EQ(last_.gates[0].limit, readings_[0].used + 1);
    EXPECT_TRUE(last_.gates[0].overlap);
    EXPECT_EQ(gate(1), State::open);
    launch(0, kMilli);
    readings_[0].wants = true;
    after(kMilli / 2);
    EXPECT_EQ(gate(0), State::closed) << "one is in flight";
    drain(0);
    after(kMilli);
    EXPECT_EQ(slicer_.achieved(0).used, kMilli);
}

TEST_F(Gang, WhoOwesAPeriodIsNotLetThrough) {
    Settings settings;
    settings.policy = Policy::fixed;
    slicer_ = Slicer(settings);
    for (const std::size_t i : {0U, 1U}) slicer_.join(i, 1, false);
    gangs_[0].busy = gangs_[0].stuck = true;
    int passed = 0;
    for (int i = 0; i < 100; ++i) {
        readings_[0].wants = true;
        after(kMilli / 2);
        if (gate(0) != State::open) continue;
        ++passed;
        launch(0, 10 * kMilli);
        after(10 * kMilli);
        drain(0);
        after(kMilli / 10);
    }
    EXPECT_GT(passed, 5);
    EXPECT_LT(passed, 40) << "a twentieth of the GPU is its own, and 100 ms may be owed";
}

// A kernel in one stream may spin for one in another stream that is held at the same gate.
TEST_F(Gang, WhoIsStuckOnItsOwnGpuIsLetThroughForOneLaunch) {
    catch_first();
    readings_[0].wants = true;
    after(5 * kMilli);
    EXPECT_EQ(gate(0), State::closed);
    EXPECT_LE(last_.wake_at, now_ + 2 * kMilli);
    after(2 * kMilli);
    ASSERT_EQ(gate(0), State::open);
    EXPECT_EQ(gate(1), State::open) << "its turn goes on";
    const Nanos limit = last_.gates[0].limit;
    EXPECT_EQ(limit, readings_[0].used + readings_[0].in_flight_estimate + 1);
    EXPECT_TRUE(last_.gates[0].overlap);
    after(kMilli / 4);
    EXPECT_EQ(last_.gates[0].limit, limit) << "until it has been seen";
    readings_[0].in_flight_estimate += kMilli;
    after(kMilli / 4);
    EXPECT_EQ(last_.gates[0].limit, limit) << "so a second one is held";
    drain(0);
    after(kMilli / 4);
    EXPECT_EQ(gate(0), State::closed);
}

TEST_F(Gang, WhoFreedItselfIsLetThroughSooner) {
    catch_first();
    readings_[0].wants = true;
    after(7 * kMilli);
    ASSERT_EQ(gate(0), State::open);
    // One of two is done at once.
    readings_[0].used += kMilli;
    after(kMilli);
    EXPECT_EQ(gate(0), State::closed);
    after(kMilli / 2);
    EXPECT_EQ(gate(0), State::closed);
    after(kMilli);
    ASSERT_EQ(gate(0), State::open) << "a millisecond without a move";
    // No work is unblocked.
    after(10 * kMilli);
    readings_[0].used += kMilli;
    after(kMilli);
    EXPECT_EQ(gate(0), State::closed);
    after(5 * kMilli);
    EXPECT_EQ(gate(0), State::closed) << "patient again";
}

TEST_F(Gang, TheCalledOneGoesNextAndGoesWhenItIsDismissed) {
    readings_[0].wants = readings_[1].wants = true;
    after(kMilli);
    const std::size_t holder = *slicer_.holder();
    const std::size_t other = 1 - holder;
    gangs_[other] = {.lead = Lead::called, .busy = true, .waits_across_gpus = true};
    gangs_[holder] = {.lead = Lead::held, .busy = true, .waits_across_gpus = true};
    after(kMilli / 4);
    EXPECT_EQ(slicer_.holder(), other) << "long before the turn's time was up";
    after(3 * kMilli);
    gangs_[other].lead = Lead::leaving;
    after(kMilli / 4);
    EXPECT_EQ(slicer_.holder(), holder) << "not the one that is leaving";
    gangs_[other].lead = Lead::held;
    gangs_[holder].lead = Lead::called;
    after(kMilli / 4);
    EXPECT_EQ(slicer_.holder(), holder);
}

// The duration of a kernel that had to wait for another GPU says nothing about the next one.
TEST_F(Gang, ATurnOfOneThatWaitsEndsByTheClock) {
    slicer_.set_policy(Policy::weighted);
    gangs_[1] = {.busy = true, .waits_across_gpus = true};
    readings_[0].wants = readings_[1].wants = true;
    after(0);
    ASSERT_EQ(slicer_.holder(), 1);
    EXPECT_EQ(last_.gates[1].limit, kForever);
    for (int i = 0; i < 15; ++i) {
        launch(1, 60 * kMilli);
        readings_[0].wants = readings_[1].wants = true;
        after(kMilli / 2);
        ASSERT_EQ(gate(1), State::open) << i;
        readings_[1].in_flight_estimate = readings_[1].remaining = 0;
        readings_[1].used += kMilli / 2;
        after(kMilli / 2);
    }
    after(5 * kMilli);
    EXPECT_EQ(slicer_.holder(), 0);
    EXPECT_EQ(last_.gates[0].limit, readings_[0].used + settings_.tuning.shares.slice);
}

// The kernel of a gang would only wait there, and take that time from the holder.
TEST_F(Gang, IsNotLetInWhileAHolderPausesUnderSoft) {
    slicer_.set_policy(Policy::soft);
    readings_[0].wants = true;
    after(kMilli);
    ASSERT_EQ(slicer_.holder(), 0);
    launch(0, kMilli);
    readings_[1].wants = true;
    after(kMilli);
    drain(0);
    after(kMilli / 10);
    ASSERT_EQ(slicer_.holder(), 0) << "a short pause";
    EXPECT_EQ(gate(1), State::open);
    gangs_[1].waits_across_gpus = true;
    after(kMilli / 10);
    ASSERT_EQ(slicer_.holder(), 0);
    EXPECT_EQ(gate(1), State::closed);
}

TEST_F(Gang, ACallTakesNothingFromOthersForLong) {
    gangs_[0] = {.lead = Lead::called, .busy = true, .waits_across_gpus = true};
    std::array<Nanos, 2> held{};
    for (int i = 0; i < 10'000; ++i) {
        readings_[0].wants = readings_[1].wants = true;
        if (const auto holder = slicer_.holder()) {
            readings_[*holder].used += kMilli;
            held[*holder] += kMilli;
        }
        after(kMilli);
    }
    EXPECT_NEAR(static_cast<double>(held[0]), static_cast<double>(held[1]), 150.0 * kMilli);
}

TEST_F(Gang, WhoHoldsAloneCallsNobody) {
    gangs_[0] = {.busy = true, .waits_across_gpus = true};
    readings_[0].wants = true;
    after(kMilli);
    EXPECT_EQ(slicer_.tell(0).lead, Lead::none);
    readings_[1].wants = true;
    after(kMilli);
    EXPECT_EQ(slicer_.tell(0).lead, Lead::called);
    EXPECT_EQ(slicer_.tell(1).lead, Lead::none) << "it isn't ganged";
    slicer_.set_policy(Policy::native);
    after(kMilli);
    EXPECT_EQ(slicer_.tell(0), GangState{});
}

TEST(GangWords, TheFirstGpuThatHasAWordLeads) {
    GangState heard;
    heard.hear({.lead = Lead::none, .busy = true}, true);
    heard.hear({.lead = Lead::held, .stuck = true}, true);
    heard.hear({.lead = Lead::called, .wants = true}, true);
    heard.hear({.lead = Lead::leaving, .waits_across_gpus = true}, false);
    EXPECT_EQ(heard, (GangState{Lead::held, true, true, true, true}));
}

}  // namespace

// Whole runs in virtual time.
namespace sim {
namespace {

using cgpu::model::Policy;

struct Case {
    Policy policy;
    double due;  // of each GPU, for each of two instances of weight 5
};

Tenant meeting(int job, const std::shared_ptr<Rendezvous>& rendezvous, std::size_t side, Nanos length) {
    Tenant tenant;
    tenant.work.kernels = {length};
    tenant.work.rendezvous = rendezvous;
    tenant.work.side = side;
    tenant.weight = 5;
    tenant.job = job;
    return tenant;
}

Tenant job_floods(int job, Nanos kernel, int weight) {
    Tenant tenant;
    tenant.work.kernels = {kernel};
    tenant.weight = weight;
    tenant.job = job;
    return tenant;
}

class Collectives : public testing::TestWithParam<Case> {};

// Without gangs it is 0.001 to 0.24 of the target.
TEST_P(Collectives, OfTwoInstancesOverTwoGpusMoveAtNearlyTheirShare) {
    for (const Nanos length : {100 * kMicro, kMilli, 5 * kMilli, 20 * kMilli}) {
        for (const int burst : {0, 1}) {
            World world(under(GetParam().policy), kQuiet, 2);
            const std::array both{std::make_shared<Rendezvous>(), std::make_shared<Rendezvous>()};
            for (const std::size_t gpu : {0U, 1U}) {
                for (const int job : {0, 1}) {
                    Tenant tenant = meeting(job, both[static_cast<std::size_t>(job)], gpu, length);
                    tenant.work.burst = burst;
                    world.add(tenant, gpu);
                }
            }
            world.run_for(2 * kSecond);
            const std::array before{world.done(0, 0), world.done(1, 0)};
            world.run_for(10 * kSecond);
            const double due = GetParam().due * 10 * kSecond / static_cast<double>(length);
            for (const std::size_t slot : {0U, 1U}) {
                EXPECT_GT(static_cast<double>(world.done(slot, 0) - before[slot]), 0.35 * due)
                    << length << " ns, waits after " << burst;
            }
        }
    }
}

// An instance on several GPUs whose kernels don't wait for each other isn't ganged: durations there are
// unrelated.
TEST_P(Collectives, ArentTakenForWhatOnlyRunsOnSeveralGpus) {
    for (const Latency& latency : {kQuiet, kNoisy}) {
        World world(under(GetParam().policy), latency, 2);
        for (const std::size_t gpu : {0U, 1U}) {
            world.add(job_floods(0, gpu == 0 ? 10 * kMicro : 20 * kMilli, 5), gpu);
            world.add(job_floods(1, gpu == 0 ? 100 * kMilli : kMilli, 5), gpu);
        }
        world.run_for(2 * kSecond);
        world.mark();
        world.run_for(30 * kSecond);
        for (const std::size_t gpu : {0U, 1U}) {
            for (const std::size_t slot : {0U, 1U}) {
                EXPECT_NEAR(world.share(slot, gpu), GetParam().due, 0.01) << slot << " on " << gpu;
            }
        }
    }
}

TEST_P(Collectives, LeaveOthersOnTheirGpusTheirShare) {
    World world(under(GetParam().policy), kQuiet, 2);
    const auto rendezvous = std::make_shared<Rendezvous>();
    for (const std::size_t gpu : {0U, 1U}) {
        world.add(meeting(0, rendezvous, gpu, kMilli), gpu);
        world.add(job_floods(-1, kMilli, 5), gpu);
    }
    world.run_for(2 * kSecond);
    world.mark();
    world.run_for(20 * kSecond);
    for (const std::size_t gpu : {0U, 1U}) {
        EXPECT_GT(world.share(1, gpu), GetParam().due - 0.03);
    }
}

TEST_P(Collectives, MoveOnThreeGpusWithUnlikeOthers) {
    World world(under(GetParam().policy), kQuiet, 3);
    const std::array pairs{std::make_shared<Rendezvous>(), std::make_shared<Rendezvous>(),
                           std::make_shared<Rendezvous>()};
    // Each GPU has one side of two pairs, so no instance leads everywhere.
    const std::array<std::array<std::size_t, 2>, 3> on{{{0, 1}, {1, 2}, {0, 2}}};
    for (std::size_t pair = 0; pair < 3; ++pair) {
        for (const std::size_t side : {0U, 1U}) {
            world.add(meeting(static_cast<int>(pair), pairs[pair], side, kMilli), on[pair][side]);
        }
    }
    world.run_for(20 * kSecond);
    const double due = GetParam().due * 20'000;
    EXPECT_GT(static_cast<double>(world.done(0, 0)), 0.25 * due);
    EXPECT_GT(static_cast<double>(world.done(0, 1)), 0.25 * due);
    EXPECT_GT(static_cast<double>(world.done(1, 2)), 0.25 * due);
}

INSTANTIATE_TEST_SUITE_P(Policies, Collectives,
                         testing::Values(Case{Policy::fair_share, 0.05}, Case{Policy::preemptive, 0.5},
                                         Case{Policy::weighted, 0.5}, Case{Policy::fixed, 0.25},
                                         Case{Policy::soft, 0.5}, Case{Policy::proportional, 0.5}),
                         [](const auto& each) {
                             std::string name(to_string(each.param.policy));
                             std::erase(name, '-');
                             return name;
                         });

}  // namespace
}  // namespace sim
}  // namespace cgpu::schedule
