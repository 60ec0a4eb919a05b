#include <gtest/gtest.h>

#include "tests/unit/core/support/nodes.hpp"

namespace cgpu::model {
namespace {

using namespace cgpu::test;
using Reason = Refusal::Reason;

TEST(NodeGpus, NewOnesGetTheirSettingsAndKnownOnesKeepTheirs) {
    GpuSettings settings;
    settings.max_inst = 10;
    Node n = node({gpu(0, 16130, settings)});
    EXPECT_EQ(n.find_gpu(uuid(0))->settings.max_inst, 10U);
    ASSERT_EQ(n.set_max_inst(uuid(0), 12), Change::changed);
    EXPECT_EQ(n.sync_gpus({gpu(0, 16130, settings), gpu(1, 15109)}), Change::changed);
    EXPECT_EQ(n.find_gpu(uuid(0))->settings.max_inst, 12U);
    EXPECT_EQ(n.find_gpu(uuid(1))->settings, GpuSettings());
}

TEST(NodeGpus, OneThatIsGoneIsKeptAndMarked) {
    Node n = node({gpu(0, 16130), gpu(1, 16130)});
    ASSERT_TRUE(n.add_instance(instance("a", {quota(0, 100)})).has_value());
    EXPECT_EQ(n.sync_gpus({gpu(1, 16130)}), Change::changed);
    ASSERT_EQ(n.gpus().size(), 2U);
    EXPECT_EQ(n.gpus().back().uuid, uuid(0));
    EXPECT_FALSE(n.find_gpu(uuid(0))->present);
    EXPECT_EQ(n.find_gpu_by_index(0), nullptr);
    EXPECT_EQ(n.allocated(uuid(0)), Bytes::from_mib(100));
    EXPECT_EQ(reason_of(n.add_instance(instance("b", {quota(0, 100)}))), Reason::not_found);
    EXPECT_EQ(n.sync_gpus({gpu(0, 16130), gpu(1, 16130)}), Change::changed);
    EXPECT_TRUE(n.find_gpu(uuid(0))->present);
}

TEST(NodeGpus, SeeingTheSameAgainChangesNothing) {
    Node n = node({gpu(1, 16130), gpu(0, 16130)});
    const auto generation = n.generation();
    EXPECT_EQ(n.sync_gpus({gpu(0, 16130), gpu(1, 16130)}), Change::unchanged);
    EXPECT_EQ(n.generation(), generation);
}

TEST(NodeGpus, ImpossibleListsAreRefusedWhole) {
    Node n = v100();
    const Node before = n;
    Sighting same_index = gpu(1, 16130);
    same_index.gpu.index = 0;
    EXPECT_EQ(reason_of(n.sync_gpus({gpu(0, 1), gpu(0, 1)})), Reason::invalid);
    EXPECT_EQ(reason_of(n.sync_gpus({gpu(0, 1), same_index})), Reason::invalid);
    EXPECT_EQ(reason_of(n.sync_gpus({gpu(0, 0)})), Reason::invalid);
    EXPECT_EQ(n, before);
}

TEST(NodeGpus, ACardThatShrinksNeverCountsBelowZero) {
    Node n = v100();
    ASSERT_TRUE(n.add_instance(instance("a", {quota(0, 16130)})).has_value());
    ASSERT_TRUE(n.sync_gpus({gpu(0, 16000)}).has_value());
    EXPECT_EQ(n.free_memory(uuid(0)), Bytes());
}

TEST(NodeGpus, SettingsChangeTheGenerationOnlyWhenTheyChange) {
    Node n = v100();
    const auto generation = n.generation();
    EXPECT_EQ(n.set_policy(uuid(0), Policy::weighted), Change::changed);
    EXPECT_EQ(n.generation(), generation + 1);
    EXPECT_EQ(n.set_policy(uuid(0), Policy::weighted), Change::unchanged);
    for (const Change change : {Change::changed, Change::unchanged}) {
        EXPECT_EQ(n.set_max_inst(uuid(0), 20), change) << "the same value, but set by hand now";
        EXPECT_EQ(n.set_prio_ratio(uuid(0), 50), change);
    }
    EXPECT_EQ(n.generation(), generation + 3);
}

TEST(NodeGpus, MaxInstKeepsItsRangeAndWhatIsThere) {
    Node n = v100();
    EXPECT_EQ(reason_of(n.set_max_inst(uuid(0), 0)), Reason::invalid);
    EXPECT_EQ(reason_of(n.set_max_inst(uuid(0), 26)), Reason::invalid);
    EXPECT_EQ(n.set_max_inst(uuid(0), 25), Change::changed);
    EXPECT_EQ(reason_of(n.set_max_inst(uuid(7), 5)), Reason::not_found);
    ASSERT_TRUE(n.add_instance(instance("a", {quota(0, 100, 5)})).has_value());
    ASSERT_TRUE(n.add_instance(instance("b", {quota(0, 100, 0)})).has_value());
    const auto refused = n.set_max_inst(uuid(0), 4);
    EXPECT_EQ(reason_of(refused), Reason::busy);
    EXPECT_NE(text_of(refused).find("5 or more"), std::string::npos) << text_of(refused);
    EXPECT_EQ(n.set_max_inst(uuid(0), 5), Change::changed);
    EXPECT_EQ(n.free_weight(uuid(0)), 0U);
}

std::uint32_t weight_of(const Node& node, const char* name) {
    return node.find_instance(id(name))->quota_on(uuid(0))->weight;
}

TEST(NodeGpus, PercentagesFollowMaxInstAndNumbersStay) {
    Node n = v100();
    ASSERT_TRUE(n.add_instance(instance("a", {quota_of_percent(0, 100, 25)})).has_value());
    ASSERT_TRUE(n.add_instance(instance("b", {quota(0, 100, 5)})).has_value());
    EXPECT_EQ(n.set_max_inst(uuid(0), 24), Change::changed);
    EXPECT_EQ(weight_of(n, "a"), 6U);
    EXPECT_EQ(weight_of(n, "b"), 5U);
    EXPECT_EQ(n.free_weight(uuid(0)), 13U);
    EXPECT_EQ(n.set_max_inst(uuid(0), 8), Change::changed) << "2 and 5 of 8";
    EXPECT_EQ(weight_of(n, "a"), 2U);
    EXPECT_EQ(n.set_max_inst(uuid(0), 20), Change::changed);
    EXPECT_EQ(weight_of(n, "a"), 5U);
    const auto crowded = n.set_max_inst(uuid(0), 4);
    EXPECT_EQ(reason_of(crowded), Reason::busy);
    EXPECT_NE(text_of(crowded).find("would add up to 6. Try: 8, 12, 16, 20 or 24, or lower a weight first."),
              std::string::npos)
        << text_of(crowded);
}

TEST(NodeGpus, MaxInstIsBusyWhereAPercentageWouldBeNoWholeNumberOfSlices) {
    Node n = v100();
    ASSERT_TRUE(n.add_instance(instance("aaaabbbbccccdddd", {quota_of_percent(0, 100, 25)})).has_value());
    ASSERT_TRUE(n.add_instance(instance("b", {quota_of_percent(0, 100, 5)})).has_value());
    ASSERT_TRUE(n.add_instance(instance("c", {quota(0, 100, 3)})).has_value());
    const Node before = n;
    const auto refused = n.set_max_inst(uuid(0), 10);
    EXPECT_EQ(reason_of(refused), Reason::busy);
    expect_well_formed(refused.error());
    EXPECT_NE(text_of(refused).find("no whole number of 10 slices: 25% of instance aaaabbbbcccc "
                                    "(aaaabbbbccccdddd), 5% of instance b (b). Try: "
                                    "cgpuctl set-weight"),
              std::string::npos)
        << text_of(refused);
    EXPECT_EQ(n, before);
    // The remedy that the refusal names: a weight that is a number needn't stay a percentage.
    EXPECT_EQ(n.set_weight(id("b"), uuid(0), 1), Change::changed);
    EXPECT_EQ(n.set_weight(id("b"), uuid(0), 1), Change::unchanged);
    EXPECT_EQ(n.set_max_inst(uuid(0), 16), Change::changed);
    EXPECT_EQ(weight_of(n, "aaaabbbbccccdddd"), 4U);
    EXPECT_EQ(weight_of(n, "b"), 1U);
}

TEST(NodeGpus, AHundredPercentIsAllSlicesWhateverTheirNumber) {
    Node n = v100();
    Quota whole = quota_of_percent(0, 100, 100);
    whole.exclusive = true;
    ASSERT_TRUE(n.add_instance(instance("a", {whole})).has_value());
    for (const std::uint32_t max_inst : {25U, 1U, 7U}) {
        ASSERT_EQ(n.set_max_inst(uuid(0), max_inst), Change::changed);
        EXPECT_EQ(weight_of(n, "a"), max_inst);
        EXPECT_TRUE(n.find_instance(id("a"))->quotas[0].exclusive);
    }
}

TEST(NodeGpus, PercentagesOfOtherGpusStayAsTheyAre) {
    Node n = node({gpu(0, 16130), gpu(1, 16130)});
    ASSERT_TRUE(n.add_instance(instance("a", {quota_of_percent(0, 100, 25), quota_of_percent(1, 100, 25)}))
                    .has_value());
    ASSERT_EQ(n.set_max_inst(uuid(1), 4), Change::changed);
    EXPECT_EQ(weight_of(n, "a"), 5U);
    EXPECT_EQ(n.find_instance(id("a"))->quota_on(uuid(1))->weight, 1U);
}

TEST(NodeGpus, APercentageThatIsNotTheWeightIsNotTaken) {
    Node n = v100();
    Quota odd = quota(0, 100, 4);
    odd.percent = 25;
    EXPECT_EQ(reason_of(n.add_instance(instance("a", {odd}))), Reason::invalid);
    odd.percent = 12;
    EXPECT_EQ(reason_of(n.add_instance(instance("a", {odd}))), Reason::invalid);
}

TEST(NodeGpus, MaxInstIsBusyBelowTheNumberOfInstances) {
    Node n = v100();
    ASSERT_TRUE(n.add_instance(instance("a", {quota(0, 100, 0)})).has_value());
    ASSERT_TRUE(n.add_instance(instance("b", {quota(0, 100, 0)})).has_value());
    EXPECT_EQ(reason_of(n.set_max_inst(uuid(0), 1)), Reason::busy);
    EXPECT_EQ(n.set_max_inst(uuid(0), 2), Change::changed);
}

TEST(NodeGpus, PrioRatioIs20To99) {
    Node n = v100();
    EXPECT_EQ(reason_of(n.set_prio_ratio(uuid(0), 19)), Reason::invalid);
    EXPECT_EQ(reason_of(n.set_prio_ratio(uuid(0), 100)), Reason::invalid);
    EXPECT_EQ(n.set_prio_ratio(uuid(0), 20), Change::changed);
    EXPECT_EQ(n.set_prio_ratio(uuid(0), 99), Change::changed);
}

TEST(NodeGpus, ADrainIsKeptWhileTheGpuIsAway) {
    Node n = v100();
    EXPECT_EQ(n.set_drained(uuid(0), true), Change::changed);
    EXPECT_EQ(n.set_drained(uuid(0), true), Change::unchanged);
    ASSERT_TRUE(n.sync_gpus({}).has_value());
    ASSERT_TRUE(n.sync_gpus({gpu(0, 16130)}).has_value());
    EXPECT_TRUE(n.find_gpu(uuid(0))->drained);
    EXPECT_EQ(n.set_drained(uuid(0), false), Change::changed);
    EXPECT_EQ(reason_of(n.set_drained(uuid(7), true)), Reason::not_found);
}

TEST(NodeGpus, WhoLivesOnADrainedGpuIsTakenUp) {
    Node n = v100();
    ASSERT_TRUE(n.set_drained(uuid(0), true).has_value());
    EXPECT_TRUE(n.take_up({{instance("a", {quota(0, 100)}), 1}}).empty());
    EXPECT_NE(n.find_instance(id("a")), nullptr);
}

TEST(NodeGpus, OnlyWhatCgpuDividesIsPaused) {
    Node n = v100();
    ASSERT_TRUE(n.add_instance(instance("a", {quota(0, 100, 2)})).has_value());
    EXPECT_EQ(n.set_paused(id("a"), uuid(0), true), Change::changed);
    EXPECT_EQ(n.set_paused(id("a"), uuid(0), true), Change::unchanged);
    EXPECT_EQ(n.find_instance(id("a"))->quotas[0].weight, 2U);
    ASSERT_TRUE(n.set_policy(uuid(0), Policy::native).has_value());
    EXPECT_TRUE(n.find_instance(id("a"))->quotas[0].paused) << "it is again, under another policy";
    EXPECT_EQ(n.set_paused(id("a"), uuid(0), false), Change::changed);
    const auto refused = n.set_paused(id("a"), uuid(0), true);
    EXPECT_EQ(reason_of(refused), Reason::unsupported);
    EXPECT_NE(refused.error().text.find("Try: cgpuctl set-policy 0 proportional."), std::string::npos)
        << refused.error().text;

    Node memory = v100();
    ASSERT_TRUE(memory.add_instance(instance("a", {quota(0, 100)}, Mode::memory)).has_value());
    EXPECT_EQ(reason_of(memory.set_paused(id("a"), uuid(0), true)), Reason::unsupported);
}

TEST(NodeGpus, WithoutComputeIsolationTheDriverDividesAndThePolicyIsKept) {
    Node n = v100();
    ASSERT_TRUE(n.set_policy(uuid(0), Policy::fixed).has_value());
    EXPECT_EQ(n.policy_in_force(*n.find_gpu(uuid(0))), Policy::fixed);
    ASSERT_TRUE(n.add_instance(instance("a", {quota(0, 100)}, Mode::memory)).has_value());
    EXPECT_EQ(n.mode_in_force(*n.find_gpu(uuid(0))), Mode::memory);
    EXPECT_EQ(n.policy_in_force(*n.find_gpu(uuid(0))), Policy::native);
    EXPECT_EQ(n.find_gpu(uuid(0))->settings.policy, Policy::fixed);
    ASSERT_TRUE(n.set_policy(uuid(0), Policy::native).has_value());
    EXPECT_EQ(n.find_instance(id("a"))->mode, Mode::memory);
}

// Found as a configuration that a reload never put in force, because the GPU had been seen before it was
// written.
TEST(FollowTest, WhatNobodySetByHandFollowsTheConfiguration) {
    Node n = v100();
    const GpuSettings configured{Policy::fixed, 10, 70, Mode::memory};
    EXPECT_EQ(n.follow(uuid(0), configured), Change::changed);
    EXPECT_EQ(n.find_gpu(uuid(0))->settings, (GpuSettings{Policy::fixed, 10, 70, Mode::memory_compute}))
        << "the mode is switched for the node";
    EXPECT_EQ(n.follow(uuid(0), configured), Change::unchanged);
    EXPECT_EQ(n.follow(uuid(7), configured), Change::unchanged) << "there is no such GPU";
}

TEST(FollowTest, WhatWasSetByHandStaysUntilItIsReverted) {
    Node n = v100();
    const Policy before = n.find_gpu(uuid(0))->settings.policy;
    EXPECT_EQ(n.set_policy(uuid(0), before), Change::changed) << "the same value, but by hand now";
    EXPECT_EQ(n.set_policy(uuid(0), before), Change::unchanged);
    ASSERT_TRUE(n.set_max_inst(uuid(0), 12).has_value());
    ASSERT_TRUE(n.set_prio_ratio(uuid(0), 60).has_value());
    const GpuSettings configured{Policy::fixed, 10, 70};
    EXPECT_EQ(n.follow(uuid(0), configured), Change::unchanged);
    EXPECT_EQ(n.find_gpu(uuid(0))->settings.policy, before);
    ASSERT_TRUE(n.set_policy(uuid(0), Policy::fixed, Lasts::as_configured).has_value());
    ASSERT_TRUE(n.set_max_inst(uuid(0), 10, Lasts::as_configured).has_value());
    ASSERT_TRUE(n.set_prio_ratio(uuid(0), 70, Lasts::as_configured).has_value());
    EXPECT_EQ(n.find_gpu(uuid(0))->settings, configured);
    EXPECT_EQ(n.follow(uuid(0), {Policy::weighted, 10, 70}), Change::changed);
}

TEST(FollowTest, InstancesKeepWhatTheyHave) {
    Node n = v100();
    ASSERT_TRUE(n.add_instance(instance("a", {quota(0, 100, 12)})).has_value());
    EXPECT_EQ(n.follow(uuid(0), {Policy::fixed, 10, 50}), Change::changed);
    EXPECT_EQ(n.find_gpu(uuid(0))->settings, (GpuSettings{Policy::fixed, 20, 50}))
        << "its weights don't fit into 10";
    ASSERT_TRUE(n.remove_instance(InstanceId(n.instances().begin()->first)).has_value());
    EXPECT_EQ(n.follow(uuid(0), {Policy::fixed, 10, 50}), Change::changed);
    EXPECT_EQ(n.find_gpu(uuid(0))->settings, (GpuSettings{Policy::fixed, 10, 50}));
}

TEST(FollowTest, PercentagesStayWhatTheyAre) {
    Node n = v100();
    Quota half = quota(0, 100, 10);
    half.percent = 50;
    ASSERT_TRUE(n.add_instance(instance("a", {half})).has_value());
    EXPECT_EQ(n.follow(uuid(0), {Policy::fixed, 10, 50}), Change::changed);
    EXPECT_EQ(n.instances().begin()->second.quotas.front().weight, 5U);
}

}  // namespace
}  // namespace cgpu::model
