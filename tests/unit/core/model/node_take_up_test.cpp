#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "tests/unit/core/support/nodes.hpp"

/// Instances that live, put into a node that doesn't have them so.
namespace cgpu::model {
namespace {

using namespace cgpu::test;
using Reason = Refusal::Reason;

constexpr std::uint64_t kMib = 1 << 20;

Instance of(const char* id, std::vector<Quota> quotas, std::uint64_t generation) {
    auto made = instance(id, std::move(quotas));
    made.generation = generation;
    return made;
}

TEST(NodeTakeUp, KeepsWhatTheyAreAndGrowsTheGeneration) {
    Node n = node({gpu(0, 16130)});
    const auto lost = of("a", {quota(0, 4000, 3)}, 12);
    EXPECT_TRUE(n.take_up({{lost, 40}}).empty());
    EXPECT_EQ(*n.find_instance(lost.id), lost);
    EXPECT_EQ(n.generation(), 41U);
}

/// Each for itself would not fit beside what the node has of the others.
TEST(NodeTakeUp, AllOfThemTogetherWhateverTheirIds) {
    for (const auto& [first, second, third] : {std::tuple{"a", "b", "c"}, {"c", "a", "b"}, {"b", "c", "a"}}) {
        Node n = node({gpu(0, 16130), gpu(1, 16130)});
        ASSERT_TRUE(n.add_instance(instance(first, {quota(0, 4000)})));
        ASSERT_TRUE(n.add_instance(instance(second, {quota(0, 12000)})));
        ASSERT_TRUE(n.add_instance(instance(third, {quota(1, 15000)})));
        std::vector<InstanceRecord> records;
        for (const auto& [id, at, mib] :
             {std::tuple{first, 0, 12000}, {second, 1, 12000}, {third, 0, 4000}}) {
            auto record = *n.find_instance(*InstanceId::parse(id));
            record.quotas = {quota(static_cast<std::uint8_t>(at), static_cast<std::uint64_t>(mib))};
            records.push_back({record, 99});
        }
        EXPECT_TRUE(n.take_up(records).empty());
        for (const auto& record : records)
            EXPECT_EQ(n.find_instance(record.instance.id)->quotas, record.instance.quotas);
    }
}

TEST(NodeTakeUp, ANewerLifeOfAnIdTakesThePlaceOfTheOlderOne) {
    Node n = node({gpu(0, 16130), gpu(1, 16130)});
    ASSERT_TRUE(n.add_instance(instance("a", {quota(0, 4000)})));
    const auto newer = of("a", {quota(1, 9000)}, 50);
    EXPECT_TRUE(n.take_up({{newer, 51}}).empty());
    EXPECT_EQ(*n.find_instance(newer.id), newer);
    EXPECT_EQ(n.allocated(uuid(0)), Bytes());
}

TEST(NodeTakeUp, WhatDoesNotFitIsReturnedAndStaysAsTheNodeHadIt) {
    Node n = node({gpu(0, 16130)});
    ASSERT_TRUE(n.add_instance(instance("a", {quota(0, 4000)})));
    ASSERT_TRUE(n.add_instance(instance("b", {quota(0, 10000)})));
    const Node before = n;
    auto larger = *n.find_instance(*InstanceId::parse("a"));
    larger.quotas = {quota(0, 8000)};
    const auto untaken = n.take_up({{larger, 9}});
    ASSERT_EQ(untaken.size(), 1U);
    EXPECT_EQ(untaken[0].refusal.reason, Reason::no_memory);
    EXPECT_EQ(n, before);
    const auto unknown = n.take_up({{of("c", {quota(3, 1)}, 3), 9}, {of("d", {quota(0, 1000)}, 4), 9}});
    ASSERT_EQ(unknown.size(), 1U);
    EXPECT_EQ(unknown[0].refusal.reason, Reason::not_found);
    EXPECT_NE(n.find_instance(*InstanceId::parse("d")), nullptr);
}

/// The slices of the GPU are among what was lost.
TEST(NodeTakeUp, APercentageIsThatOfTheSlicesThatThereAreNow) {
    Node n = node({gpu(0, 16130)});
    auto third = quota(0, 1000, 3);
    third.percent = 30;  // of 10
    EXPECT_TRUE(n.take_up({{of("a", {third}, 1), 1}}).empty());
    EXPECT_EQ(n.find_instance(*InstanceId::parse("a"))->quotas[0].weight, 6U);
    auto odd = quota(0, 1000, 1);
    odd.percent = 4;  // of 25
    EXPECT_TRUE(n.take_up({{of("b", {odd}, 2), 2}}).empty());
    const auto& taken = n.find_instance(*InstanceId::parse("b"))->quotas[0];
    EXPECT_EQ(taken.weight, 1U);
    EXPECT_FALSE(taken.percent);
}

/// Whatever is taken up, it is a node that can be saved and read.
RC_GTEST_PROP(NodeTakeUpProperty, KeepsTheRulesOfANode, ()) {
    Node n = node({gpu(0, 16130), gpu(1, 16130)});
    const auto some = [&](std::uint64_t generation) {
        const std::string id(1, static_cast<char>('a' + *rc::gen::inRange(0, 6)));
        auto its = quota(*rc::gen::inRange<std::uint8_t>(0, 3), *rc::gen::inRange<std::uint64_t>(1, 17000),
                         *rc::gen::inRange<std::uint32_t>(1, 12));
        if (*rc::gen::inRange(0, 3) == 0) its.percent = *rc::gen::inRange<std::uint32_t>(1, 101);
        return of(id.c_str(), {its}, generation);
    };
    for (int i = 0; i < 4; ++i) static_cast<void>(n.add_instance(some(0)));
    std::map<InstanceId, InstanceRecord> records;
    for (std::uint64_t i = 0; i < 5; ++i) {
        auto made = some(10 + i);
        records.insert_or_assign(made.id, InstanceRecord{made, 20 + i});
    }
    std::vector<InstanceRecord> all;
    all.reserve(records.size());
    for (const auto& [id, record] : records) all.push_back(record);
    const auto untaken = n.take_up(all);
    RC_ASSERT(untaken.size() <= all.size());
    std::vector<Instance> instances;
    for (const auto& [id, each] : n.instances()) instances.push_back(each);
    const auto restored = Node::restore(n.generation(), n.gpus(), instances);
    RC_ASSERT(restored.has_value());
    for (std::uint8_t at = 0; at < 2; ++at) RC_ASSERT(n.allocated(uuid(at)) <= Bytes(16130 * kMib));
}

}  // namespace
}  // namespace cgpu::model
