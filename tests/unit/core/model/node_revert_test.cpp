#include <gtest/gtest.h>

#include "tests/unit/core/support/nodes.hpp"

/// What an instance was admitted with holds again.
namespace cgpu::model {
namespace {

using namespace cgpu::test;
using Reason = Refusal::Reason;

const Quota& quota_of(const Node& node, const std::string& name, std::uint8_t gpu = 0) {
    return *node.find_instance(id(name))->quota_on(uuid(gpu));
}

Node with_all(std::vector<Instance> instances) {
    Node n = node({gpu(0, 16130), gpu(1, 16130)});
    for (auto& each : instances) EXPECT_TRUE(n.add_instance(std::move(each)).has_value());
    return n;
}

TEST(NodeRevert, AllThatWasSetGoesBackAtOnce) {
    Node n = with_all({instance("a", {quota(0, 1000, 2)})});
    const Quota before = quota_of(n, "a");
    EXPECT_EQ(before.admitted, std::nullopt);
    EXPECT_EQ(n.revert_quota(id("a"), uuid(0), {}), Change::unchanged);
    ASSERT_TRUE(n.set_memory(id("a"), uuid(0), Bytes::from_mib(3000), {}).has_value());
    ASSERT_TRUE(n.set_memory(id("a"), uuid(0), Bytes::from_mib(2000), {}).has_value());
    ASSERT_TRUE(n.set_weight(id("a"), uuid(0), 5).has_value());
    ASSERT_TRUE(n.set_high_priority(id("a"), uuid(0), true).has_value());
    EXPECT_EQ(quota_of(n, "a").admitted, (Admitted{Bytes::from_mib(1000), 2}));
    const auto generation = n.generation();
    EXPECT_EQ(n.revert_quota(id("a"), uuid(0), {}), Change::changed);
    EXPECT_EQ(quota_of(n, "a"), before);
    EXPECT_EQ(n.generation(), generation + 1);
}

TEST(NodeRevert, WhatIsSetBackByHandIsNothingToRevert) {
    Node n = with_all({instance("a", {quota(0, 1000, 2)})});
    ASSERT_TRUE(n.set_weight(id("a"), uuid(0), 5).has_value());
    ASSERT_TRUE(n.set_weight(id("a"), uuid(0), 2).has_value());
    EXPECT_EQ(quota_of(n, "a").admitted, std::nullopt);
    EXPECT_EQ(n.revert_quota(id("a"), uuid(0), {}), Change::unchanged);
}

TEST(NodeRevert, APercentageIsThatPartOfWhateverMaxInstIsNow) {
    Node n = with_all({instance("a", {quota_of_percent(0, 1000, 50)})});
    ASSERT_TRUE(n.set_weight(id("a"), uuid(0), 3).has_value());
    ASSERT_TRUE(n.set_max_inst(uuid(0), 12).has_value());
    EXPECT_EQ(n.revert_quota(id("a"), uuid(0), {}), Change::changed);
    EXPECT_EQ(quota_of(n, "a").percent, 50U);
    EXPECT_EQ(quota_of(n, "a").weight, 6U);
    // A max_inst that changes the slices of a percentage is no setting of the instance.
    ASSERT_TRUE(n.set_max_inst(uuid(0), 20).has_value());
    EXPECT_EQ(quota_of(n, "a").admitted, std::nullopt);

    ASSERT_TRUE(n.set_weight(id("a"), uuid(0), 3).has_value());
    ASSERT_TRUE(n.set_max_inst(uuid(0), 15).has_value());
    const Node before = n;
    const auto refused = n.revert_quota(id("a"), uuid(0), {});
    EXPECT_EQ(reason_of(refused), Reason::busy) << "7.5 slices";
    expect_well_formed(refused.error());
    EXPECT_EQ(n, before);
}

TEST(NodeRevert, TheWholeGpuComesBackOnlyWhenNobodyElseIsThere) {
    Quota whole = quota_of_percent(0, 1000, 100);
    whole.exclusive = true;
    Node n = with_all({instance("a", {whole})});
    ASSERT_TRUE(n.set_weight(id("a"), uuid(0), 10).has_value());
    ASSERT_TRUE(n.add_instance(instance("b", {quota(0, 100)})).has_value());
    const auto refused = n.revert_quota(id("a"), uuid(0), {});
    EXPECT_EQ(reason_of(refused), Reason::busy);
    expect_well_formed(refused.error());
    ASSERT_TRUE(n.remove_instance(id("b")).has_value());
    EXPECT_EQ(n.revert_quota(id("a"), uuid(0), {}), Change::changed);
    EXPECT_EQ(quota_of(n, "a"), whole);
}

TEST(NodeRevert, WhatOthersHaveTakenMeanwhileIsRefusedAndNothingChanges) {
    Node n = with_all({instance("a", {quota(0, 9000, 12)})});
    ASSERT_TRUE(n.set_memory(id("a"), uuid(0), Bytes::from_mib(1000), {}).has_value());
    ASSERT_TRUE(n.set_high_priority(id("a"), uuid(0), true).has_value());
    ASSERT_TRUE(n.add_instance(instance("b", {quota(0, 10000, 2)})).has_value());
    Node before = n;
    auto refused = n.revert_quota(id("a"), uuid(0), {});
    EXPECT_EQ(reason_of(refused), Reason::no_memory);
    expect_well_formed(refused.error());
    EXPECT_EQ(n, before);

    ASSERT_TRUE(n.set_memory(id("b"), uuid(0), Bytes::from_mib(1000), {}).has_value());
    ASSERT_TRUE(n.set_weight(id("a"), uuid(0), 1).has_value());
    ASSERT_TRUE(n.set_weight(id("b"), uuid(0), 15).has_value());
    before = n;
    refused = n.revert_quota(id("a"), uuid(0), {});
    EXPECT_EQ(reason_of(refused), Reason::no_space);
    expect_well_formed(refused.error());
    EXPECT_EQ(n, before);
}

TEST(NodeRevert, LessMemoryThanItHoldsIsBusy) {
    Node n = with_all({instance("a", {quota(0, 1000)})});
    ASSERT_TRUE(n.set_memory(id("a"), uuid(0), Bytes::from_mib(3000), {}).has_value());
    const auto refused = n.revert_quota(id("a"), uuid(0), Bytes::from_mib(2000));
    EXPECT_EQ(reason_of(refused), Reason::busy);
    EXPECT_EQ(n.revert_quota(id("a"), uuid(0), Bytes::from_mib(1000)), Change::changed);
    EXPECT_EQ(reason_of(n.revert_quota(id("a"), uuid(1), {})), Reason::not_found);
    EXPECT_EQ(reason_of(n.revert_quota(id("b"), uuid(0), {})), Reason::not_found);
}

}  // namespace
}  // namespace cgpu::model
