#include "daemon/app/compute/gpu_gates.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "daemon/app/compute/gangs.hpp"
#include "tests/unit/core/support/nodes.hpp"
#include "tests/unit/daemon/app/compute/test_pages.hpp"

namespace cgpu::app {
namespace {

using cgpu::test::gpu;
using cgpu::test::id;
using cgpu::test::instance;
using cgpu::test::quota;
using cgpu::test::quota_of_percent;
using cgpu::test::uuid;
using schedule::kMilli;
using schedule::kSecond;

/// Four GPUs. On the last one two instances compute in turns, on the first one a third instance does.
struct World {
    World() {
        EXPECT_TRUE(node.add_instance(instance("first", {quota(0, 1000)})).has_value());
        EXPECT_TRUE(node.add_instance(instance("a", {quota(3, 1000, 2)})).has_value());
        EXPECT_TRUE(node.add_instance(instance("b", {quota(3, 1000)})).has_value());
        for (const auto& each : node.gpus())
            gpus.try_emplace(each.uuid, each, node.policy_in_force(each), 5 * kMilli, 20 * kSecond);
        update();
        last().add(id("a"), 0, a);
        last().add(id("b"), 0, b);
        gpus.at(uuid(0)).add(id("first"), 0, first);
    }
    /// As the slicer thread does at every change of the node.
    void update() {
        for (const auto& each : node.gpus()) gpus.at(each.uuid).update(node, each);
        gangs.update(node, gpus);
    }
    GpuGates& last() { return gpus.at(uuid(3)); }
    /// Half a millisecond in which the holder of the last GPU computes; then both report that.
    void step() {
        now += kMilli / 2;
        for (const auto& each : {a, b}) {
            auto& report = each->its_reports.gpus[0];
            report.wants = 1;
            report.updated_ns = now;
            if (is_open(*each)) report.used_ns.fetch_add(kMilli / 2);
        }
        last().rung();
        gangs.step(now);
    }
    static bool is_open(const test::TestPages& pages) {
        return pages.its_orders.gates[0].state == static_cast<std::uint32_t>(wire::GateState::open);
    }
    InstanceUsage usage(const char* name, const model::Uuid& on = uuid(3)) {
        InstanceUsage usage;
        gpus.at(on).fill_usage(id(name), now, usage);
        return usage;
    }

    Nanos now = kSecond;
    model::Node node = cgpu::test::node({gpu(0, 16130, {.policy = model::Policy::weighted}),
                                         gpu(1, 16130, {.policy = model::Policy::weighted}),
                                         gpu(2, 16130, {.policy = model::Policy::weighted}),
                                         gpu(3, 16130, {.policy = model::Policy::weighted})});
    Gangs::Gpus gpus;
    Gangs gangs;
    std::shared_ptr<test::TestPages> a = std::make_shared<test::TestPages>(1);
    std::shared_ptr<test::TestPages> b = std::make_shared<test::TestPages>(2);
    std::shared_ptr<test::TestPages> first = std::make_shared<test::TestPages>(3);
};

/// Events on GPUs other than the last one, in turn.
void change_others(model::Node& node, int i) {
    switch (i % 4) {
        case 0:
            EXPECT_TRUE(node.add_instance(instance("second", {quota(0, 100)})).has_value());
            break;
        case 1:
            EXPECT_TRUE(node.add_instance(instance("wide", {quota(0, 100), quota(1, 100)})).has_value());
            break;
        case 2:
            EXPECT_TRUE(node.remove_instance(id("second")).has_value());
            EXPECT_TRUE(node.remove_instance(id("wide")).has_value());
            break;
        default:
            EXPECT_TRUE(node.set_max_inst(uuid(0), 10 + static_cast<std::uint32_t>(i) % 7).has_value());
            break;
    }
}

TEST(GpuGates, WhatChangesOnAnotherGpuTouchesNothing) {
    World changed;
    World calm;
    int turns = 0;
    bool was_open = false;
    for (int i = 0; i < 400; ++i) {
        changed.step();
        calm.step();
        turns += World::is_open(*calm.a) && !was_open;
        was_open = World::is_open(*calm.a);
        const auto due_at = changed.last().due_at();
        change_others(changed.node, i);
        changed.update();
        ASSERT_EQ(changed.last().due_at(), due_at) << "no step is due for it";
        ASSERT_LE(changed.gpus.at(uuid(0)).due_at(), changed.now);
        changed.gangs.step(changed.now);
        for (const auto& [one, two] : {std::pair(changed.a, calm.a), std::pair(changed.b, calm.b)}) {
            const auto& gate = one->its_orders.gates[0];
            const auto& same = two->its_orders.gates[0];
            ASSERT_EQ(gate.seq, same.seq) << i;
            ASSERT_EQ(gate.state, same.state) << i;
            ASSERT_EQ(gate.limit_ns, same.limit_ns) << i;
        }
    }
    EXPECT_GT(turns, 5);
    EXPECT_EQ(changed.usage("a").gpu_time, calm.usage("a").gpu_time);
    EXPECT_EQ(changed.usage("a").preemptions, calm.usage("a").preemptions);
    EXPECT_EQ(changed.usage("b").target_share, calm.usage("b").target_share);
}

TEST(GpuGates, WhatIsMeasuredBesideOthersAfterARestartIsNobodysUse) {
    World world;
    world.gangs.step(world.now);
    const auto both = [&](int passed_ms, int used_ms, int in_flight_ms) {
        world.now += passed_ms * kMilli;
        for (const auto& each : {world.a, world.b}) {
            auto& report = each->its_reports.gpus[0];
            report.used_ns.fetch_add(used_ms * kMilli);
            report.in_flight_ns = in_flight_ms * kMilli;
            report.launches = 100;
            report.updated_ns = world.now;
        }
        world.last().rung();
        world.gangs.step(world.now);
    };
    both(1, 900, 40);
    both(50, 50, 20);
    both(50, 50, 0);
    EXPECT_EQ(world.usage("a").gpu_time + world.usage("b").gpu_time, 0U);
    both(4000, 0, 0);
    for (int i = 0; i < 200; ++i) world.step();
    const auto sum = world.usage("a").gpu_time + world.usage("b").gpu_time;
    EXPECT_TRUE(sum > 90U * kMilli && sum <= 100U * kMilli) << sum;
}

TEST(GpuGates, ALiarAmongNewProcessesHidesNoUse) {
    World world;
    world.step();
    world.now += 11 * kSecond;
    const auto liar = std::make_shared<test::TestPages>(4);
    world.last().add(id("b"), 0, liar);
    world.gangs.step(world.now);
    liar->its_reports.gpus[0].used_ns = 900 * kMilli;
    liar->its_reports.gpus[0].updated_ns = world.now;
    for (int i = 0; i < 40; ++i) world.step();
    EXPECT_GT(world.usage("a").gpu_time, kMilli);
}

TEST(GpuGates, AProcessThatComesBackAloneIsCounted) {
    World world;
    auto& report = world.first->its_reports.gpus[0];
    world.gangs.step(world.now);
    report.used_ns = 900 * kMilli;
    report.in_flight_ns = 20 * kMilli;
    report.updated_ns = world.now += kMilli;
    world.gangs.step(world.now);
    report.used_ns.fetch_add(500 * kMilli);
    report.updated_ns = world.now += 500 * kMilli;
    world.gpus.at(uuid(0)).rung();
    world.gangs.step(world.now);
    EXPECT_EQ(world.usage("first", uuid(0)).gpu_time, 501U * kMilli);
}

TEST(GpuGates, ANodeThatIsAsItWasTouchesNothing) {
    World world;
    for (int i = 0; i < 20; ++i) world.step();
    for (auto& [uuid, gates] : world.gpus) {
        const auto due_at = gates.due_at();
        gates.update(world.node, *world.node.find_gpu(uuid));
        EXPECT_EQ(gates.due_at(), due_at);
    }
}

/// The doorbells are gathered again for these only.
TEST(GpuGates, OnlyWhoComesOrGoesChangesTheSlots) {
    World world;
    const auto change = [&](auto done) {
        EXPECT_TRUE(done.has_value());
        return world.last().update(world.node, *world.node.find_gpu(uuid(3)));
    };
    EXPECT_FALSE(change(world.node.set_weight(id("a"), uuid(3), 3)));
    EXPECT_FALSE(change(world.node.attach(id("a"), {1, 1, "boot"})));
    EXPECT_FALSE(change(world.node.add_instance(instance("elsewhere", {quota(0, 1000)}))));
    EXPECT_TRUE(change(world.node.add_instance(instance("aa", {quota(3, 1000)}))));
    EXPECT_EQ(world.last().slot_of(id("aa")), 2U);
    EXPECT_TRUE(change(world.node.remove_instance(id("a"))));
    EXPECT_FALSE(world.last().slot_of(id("a")));
    EXPECT_EQ(world.last().slot_of(id("b")), 1U);
    EXPECT_EQ(world.last().slot_of(id("aa")), 2U);
}

TEST(GpuGates, ItsOwnChangesAreSeenAtOnce) {
    World world;
    for (int i = 0; i < 20; ++i) world.step();
    ASSERT_GT(world.last().due_at(), world.now);
    EXPECT_TRUE(world.node.set_policy(uuid(3), model::Policy::native).has_value());
    world.update();
    EXPECT_LE(world.last().due_at(), world.now);
    world.gangs.step(world.now);
    EXPECT_EQ(world.a->its_orders.gates[0].state, static_cast<std::uint32_t>(wire::GateState::free));
}

TEST(GpuGates, WhereTheDriverDividesNoShareIsDueAndNoneIsMeasured) {
    World world;
    for (int i = 0; i < 400; ++i) world.step();
    const auto before = world.usage("a");
    ASSERT_TRUE(before.target_share.has_value());
    EXPECT_NEAR(before.target_share.value_or(0), 2.0 / 3, 1e-9);
    EXPECT_GT(before.achieved_share.value_or(0), 0.5);
    EXPECT_TRUE(world.node.set_policy(uuid(3), model::Policy::native).has_value());
    world.update();
    world.gangs.step(world.now);
    const auto native = world.usage("a");
    EXPECT_FALSE(native.target_share.has_value());
    EXPECT_FALSE(native.achieved_share.has_value());
    EXPECT_EQ(native.gpu_time, before.gpu_time) << "what was measured stays";
}

TEST(GpuGates, AWeightAndMaxInstThatChangeTogetherAreTakenTogether) {
    World world;
    auto sized = quota_of_percent(3, 1000, 50);
    EXPECT_TRUE(world.node.remove_instance(id("b")).has_value());
    EXPECT_TRUE(world.node.add_instance(instance("b", {sized})).has_value());
    EXPECT_TRUE(world.node.set_policy(uuid(3), model::Policy::fixed).has_value());
    world.update();
    EXPECT_DOUBLE_EQ(world.usage("b").target_share.value_or(0), 0.5);
    EXPECT_TRUE(world.node.set_max_inst(uuid(3), 4).has_value());
    world.update();
    EXPECT_DOUBLE_EQ(world.usage("b").target_share.value_or(0), 0.5) << "2 of 4";
    EXPECT_DOUBLE_EQ(world.usage("a").target_share.value_or(0), 0.5) << "a number of slices, still 2";
}

TEST(GpuGates, ReportsAreThoseOfInstancesWhoseComputeIsMeasured) {
    World world;
    auto& page = world.a->its_reports.gpus[0];
    page.used_ns = -5;
    page.in_flight_ns = INT64_MAX;
    page.oldest_start_ns = INT64_MAX;
    const auto reports = world.last().reports();
    ASSERT_EQ(reports.size(), 2U);
    ASSERT_EQ(reports.at(id("a")).size(), 1U);
    const auto& report = reports.at(id("a"))[0];
    EXPECT_EQ(report.process.pid, 1);
    EXPECT_EQ(report.used, 0) << "a process can write anything";
    EXPECT_TRUE(report.in_flight);
    EXPECT_LE(report.oldest, Nanos{1} << 61);
    page.used_ns = 7 * kSecond;
    page.in_flight_ns = -1;
    EXPECT_EQ(world.last().reports().at(id("a"))[0].used, 7 * kSecond);
    EXPECT_FALSE(world.last().reports().at(id("a"))[0].in_flight);
    EXPECT_TRUE(world.gpus.at(uuid(1)).reports().empty()) << "it has no instance";
    world.last().remove(id("a"), world.a->process, world.now);
    EXPECT_TRUE(world.last().reports().at(id("a")).empty()) << "it is there without a process";
    EXPECT_TRUE(world.node.set_policy(uuid(3), model::Policy::native).has_value());
    world.update();
    EXPECT_TRUE(world.last().reports().empty());
}

// With a tenant that rings without pause on one GPU of sixteen, the others' pages needn't be read each time.
TEST(Gangs, AGpuOnWhichNothingHappensIsLeftAlone) {
    World world;
    for (int i = 0; i < 20; ++i) world.step();
    auto& report = world.a->its_reports.gpus[0];
    report.used_ns.fetch_add(kMilli);
    const auto before = world.last().due_at();
    ASSERT_GT(before, world.now + 1);
    world.gpus.at(uuid(0)).rung();
    world.gangs.step(world.now + 1);
    EXPECT_EQ(world.last().due_at(), before);
    world.gangs.step(before);
    EXPECT_GT(world.last().due_at(), before) << "but what is due by time is done";
}

TEST(GpuGates, WhatIsDueIsNeverMoreThanTheTime) {
    World world;
    GpuGates& gates = world.gpus.at(uuid(0));
    const auto due = [&] {
        InstanceUsage usage;
        gates.fill_usage(id("first"), world.now, usage);
        return usage.due;
    };
    auto& report = world.first->its_reports.gpus[0];
    report.wants = 1;
    std::uint64_t before = 0;
    for (int i = 0; i < 3; ++i) {
        before = due();
        world.now += kMilli;
        report.used_ns.fetch_add(kSecond);  // a long kernel has ended
        report.updated_ns = world.now;
        gates.rung();
        world.gangs.step(world.now);
    }
    EXPECT_GT(due(), before);
    EXPECT_LE(due() - before, static_cast<std::uint64_t>(kMilli));
}

TEST(GpuGates, APausedInstanceComputesNothingAndOthersGetTheGpu) {
    World world;
    for (int i = 0; i < 40; ++i) world.step();
    ASSERT_TRUE(world.node.set_paused(id("a"), uuid(3), true).has_value());
    world.update();
    EXPECT_LE(world.last().due_at(), world.now) << "it is in force at once";
    world.step();
    const auto before = world.usage("a");
    const auto others = world.usage("b");
    for (int i = 0; i < 400; ++i) {
        world.step();
        ASSERT_FALSE(World::is_open(*world.a)) << i;
    }
    const auto paused = world.usage("a");
    EXPECT_EQ(paused.gpu_time, before.gpu_time);
    EXPECT_EQ(paused.target_share, 0.0);
    EXPECT_EQ(paused.due, before.due);
    EXPECT_GT(world.usage("b").gpu_time - others.gpu_time, static_cast<std::uint64_t>(180 * kMilli));

    ASSERT_TRUE(world.node.set_paused(id("a"), uuid(3), false).has_value());
    world.update();
    for (int i = 0; i < 400; ++i) world.step();
    EXPECT_NEAR(world.usage("a").target_share.value_or(0), 2.0 / 3, 1e-9);
    EXPECT_GT(world.usage("a").gpu_time, paused.gpu_time + static_cast<std::uint64_t>(100 * kMilli));
}

TEST(GpuGates, WhoIsAlonePausedOrOfHighPriorityIsHeldToo) {
    World world;
    ASSERT_TRUE(world.node.remove_instance(id("b")).has_value());
    ASSERT_TRUE(world.node.set_high_priority(id("a"), uuid(3), true).has_value());
    ASSERT_TRUE(world.node.set_paused(id("a"), uuid(3), true).has_value());
    world.update();
    world.step();
    const auto due = world.usage("a").due;
    for (int i = 0; i < 400; ++i) {
        // What ran when it was paused ends, and was charged before.
        world.a->its_reports.gpus[0].used_ns.fetch_add(i < 5 ? kMilli : 0);
        world.step();
        ASSERT_FALSE(World::is_open(*world.a)) << i;
    }
    EXPECT_EQ(world.usage("a").due, due);
}

TEST(GpuGates, AnInstanceThatJoinsPausedIsHeld) {
    World world;
    ASSERT_TRUE(world.node.set_paused(id("a"), uuid(3), true).has_value());
    // As after a restart of cgpud.
    world.gpus.erase(uuid(3));
    const auto& last = *world.node.find_gpu(uuid(3));
    world.gpus.try_emplace(uuid(3), last, world.node.policy_in_force(last), 5 * kMilli, 20 * kSecond);
    world.update();
    world.last().add(id("a"), 0, world.a);
    world.last().add(id("b"), 0, world.b);
    for (int i = 0; i < 400; ++i) {
        world.step();
        ASSERT_FALSE(World::is_open(*world.a)) << i;
    }
    EXPECT_GT(world.usage("b").gpu_time, static_cast<std::uint64_t>(180 * kMilli));
}

RC_GTEST_PROP(GpuGatesProperty, NoPausedInstanceHasATurnUnderAnyPolicy, ()) {
    World world;
    const auto policy =
        *rc::gen::element(model::Policy::fair_share, model::Policy::preemptive, model::Policy::weighted,
                          model::Policy::fixed, model::Policy::soft, model::Policy::proportional);
    RC_ASSERT(world.node.set_policy(uuid(3), policy).has_value());
    for (auto changes = *rc::gen::inRange(1, 40); changes > 0; --changes) {
        const auto who = id(*rc::gen::element<std::string>("a", "b"));
        switch (*rc::gen::inRange(0, 4)) {
            case 0:
                RC_ASSERT(
                    world.node.set_high_priority(who, uuid(3), *rc::gen::arbitrary<bool>()).has_value());
                break;
            case 1:
                static_cast<void>(world.node.set_weight(who, uuid(3), *rc::gen::inRange(1U, 10U)));
                break;
            default:
                RC_ASSERT(world.node.set_paused(who, uuid(3), *rc::gen::arbitrary<bool>()).has_value());
                break;
        }
        world.update();
        for (int i = 0; i < 30; ++i) {
            world.step();
            for (const auto& [name, pages] : {std::pair("a", world.a), std::pair("b", world.b)})
                RC_ASSERT(!World::is_open(*pages) ||
                          !world.node.find_instance(id(name))->quota_on(uuid(3))->paused);
        }
    }
}

}  // namespace
}  // namespace cgpu::app
