#include <gtest/gtest.h>

#include "tests/unit/core/support/nodes.hpp"

/// What was set until the reboot.
namespace cgpu::model {
namespace {

using namespace cgpu::test;
constexpr auto kUntilReboot = Lasts::until_reboot;

const GpuSettings& settings(const Node& node) { return node.find_gpu(uuid(0))->settings; }

TEST(UntilReboot, EndsWithTheBootAndOnlyThat) {
    Node n = v100();
    n.set_boot_id("first");
    const Node before = n;
    EXPECT_EQ(n.set_policy(uuid(0), Policy::weighted, kUntilReboot), Change::changed);
    EXPECT_EQ(n.set_policy(uuid(0), Policy::weighted, kUntilReboot), Change::unchanged);
    EXPECT_EQ(n.set_max_inst(uuid(0), 8), Change::changed) << "for good";
    EXPECT_EQ(n.set_prio_ratio(uuid(0), 70, kUntilReboot), Change::changed);
    EXPECT_EQ(n.set_default_memory(Bytes::from_gib(2), kUntilReboot), Change::changed);
    EXPECT_EQ(settings(n).policy, Policy::weighted);
    EXPECT_EQ(n.default_memory(), Bytes::from_gib(2));
    EXPECT_EQ(n.boot_ended(), Change::changed);
    EXPECT_EQ(settings(n).policy, settings(before).policy);
    EXPECT_EQ(settings(n).prio_ratio, settings(before).prio_ratio);
    EXPECT_EQ(settings(n).max_inst, 8U);
    EXPECT_EQ(n.default_memory(), std::nullopt);
    EXPECT_TRUE(n.until_reboot().empty());
    EXPECT_EQ(n.boot_ended(), Change::unchanged);
}

TEST(UntilReboot, TheSameValueCanBeSetForGood) {
    Node n = v100();
    ASSERT_TRUE(n.set_policy(uuid(0), Policy::weighted, kUntilReboot).has_value());
    EXPECT_EQ(n.set_policy(uuid(0), Policy::weighted), Change::changed);
    EXPECT_TRUE(n.until_reboot().empty());
    ASSERT_EQ(n.set_default_memory(Bytes::from_gib(2), kUntilReboot), Change::changed);
    EXPECT_EQ(n.set_default_memory(Bytes::from_gib(2)), Change::changed);
    EXPECT_EQ(n.set_default_memory(Bytes::from_gib(2)), Change::unchanged);
    EXPECT_TRUE(n.until_reboot().empty());
    EXPECT_EQ(n.boot_ended(), Change::unchanged);
    EXPECT_EQ(settings(n).policy, Policy::weighted);
}

TEST(UntilReboot, TheLastValueForGoodComesBackWhateverWasSetBetween) {
    Node n = v100();
    ASSERT_TRUE(n.set_max_inst(uuid(0), 10).has_value());
    ASSERT_TRUE(n.set_max_inst(uuid(0), 11, kUntilReboot).has_value());
    ASSERT_TRUE(n.set_max_inst(uuid(0), 12, kUntilReboot).has_value());
    ASSERT_EQ(n.set_default_memory(Bytes::from_gib(1)), Change::changed);
    ASSERT_EQ(n.set_default_memory(Bytes::from_gib(3), kUntilReboot), Change::changed);
    ASSERT_EQ(n.boot_ended(), Change::changed);
    EXPECT_EQ(settings(n).max_inst, 10U);
    EXPECT_EQ(n.default_memory(), Bytes::from_gib(1));
    // Back to that by hand: nothing is left to end.
    ASSERT_TRUE(n.set_max_inst(uuid(0), 15, kUntilReboot).has_value());
    ASSERT_TRUE(n.set_max_inst(uuid(0), 10, kUntilReboot).has_value());
    EXPECT_TRUE(n.until_reboot().empty());
}

TEST(UntilReboot, InstancesOfTheBootThatHasEndedAreGoneWhateverFitsThen) {
    Node n = v100();
    ASSERT_TRUE(n.set_max_inst(uuid(0), 3).has_value());
    ASSERT_TRUE(n.set_max_inst(uuid(0), 20, kUntilReboot).has_value());
    ASSERT_TRUE(n.add_instance(instance("a", {quota(0, 100, 18)})).has_value());
    ASSERT_EQ(n.boot_ended(), Change::changed);
    EXPECT_EQ(settings(n).max_inst, 3U);
    EXPECT_TRUE(n.instances().empty());
    EXPECT_TRUE(Node::restore(n.generation(), n.gpus(), {}, n.kept(), n.default_memory()).has_value());
}

TEST(UntilReboot, ARefusedValueChangesNothing) {
    Node n = v100();
    const Node before = n;
    EXPECT_FALSE(n.set_max_inst(uuid(0), 26, kUntilReboot).has_value());
    EXPECT_FALSE(n.set_prio_ratio(uuid(0), 19, kUntilReboot).has_value());
    EXPECT_FALSE(n.set_policy(uuid(1), Policy::weighted, kUntilReboot).has_value());
    EXPECT_EQ(n, before);
}

TEST(UntilReboot, WhatNobodySetFollowsTheFilesBehindIt) {
    Node n = v100();
    ASSERT_TRUE(n.set_policy(uuid(0), Policy::weighted, kUntilReboot).has_value());
    EXPECT_EQ(n.follow(uuid(0), {Policy::fixed, 10, 50}), Change::changed);
    EXPECT_EQ(settings(n).policy, Policy::weighted) << "set by hand";
    EXPECT_EQ(settings(n).max_inst, 10U);
    EXPECT_EQ(n.follow(uuid(0), {Policy::fixed, 10, 50}), Change::unchanged);
    ASSERT_EQ(n.boot_ended(), Change::changed);
    EXPECT_EQ(settings(n).policy, Policy::fixed);
    EXPECT_FALSE(settings(n).by_hand.policy);
}

}  // namespace
}  // namespace cgpu::model
