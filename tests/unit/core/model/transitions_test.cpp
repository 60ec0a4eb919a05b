#include "core/model/transitions.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <numeric>

#include "tests/unit/core/support/nodes.hpp"

namespace cgpu::model {
namespace {

using namespace cgpu::test;

/// A name of one letter for each.
std::string name_of(std::size_t which) { return std::string(1, static_cast<char>('a' + which)); }

Transition weight(std::size_t which, std::uint32_t slices) {
    return [=](Node& node) { return node.set_weight(id(name_of(which)), uuid(0), slices); };
}

Transition memory(std::size_t which, std::uint64_t mib) {
    return [=](Node& node) {
        return node.set_memory(id(name_of(which)), uuid(0), Bytes::from_mib(mib), Bytes{});
    };
}

Transition max_inst(std::uint32_t slices) {
    return [=](Node& node) { return node.set_max_inst(uuid(0), slices); };
}

/// A GPU of 20 slices and 1000 MiB, with instances of these weights and a tenth of it each.
Node with(const std::vector<std::uint32_t>& weights) {
    Node made = test::node({gpu(0, 1000)});
    for (std::size_t which = 0; which < weights.size(); ++which)
        EXPECT_TRUE(made.add_instance(instance(name_of(which), {quota(0, 100, weights[which])})));
    return made;
}

TEST(DoAll, TwoInstancesExchangeTheirWeightsOnAFullGpu) {
    Node node = with({15, 5});
    const auto done = do_all(node, {weight(1, 15), weight(0, 5)});
    ASSERT_TRUE(done) << done.error().refusal.text;
    EXPECT_EQ(*done, Change::changed);
    EXPECT_EQ(node.find_instance(id("a"))->quotas[0].weight, 5U);
    EXPECT_EQ(node.find_instance(id("b"))->quotas[0].weight, 15U);
}

TEST(DoAll, WhatCanNotBeDoneIsNamedAndNothingIsDone) {
    Node node = with({10, 5});
    const Node before = node;
    const auto done = do_all(node, {weight(0, 9), weight(1, 12), weight(0, 9)});
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().which, 1U);
    EXPECT_EQ(done.error().refusal.reason, Refusal::Reason::no_space);
    EXPECT_EQ(node, before);
}

TEST(DoAll, WhatIsThereAlreadyIsNoChange) {
    Node node = with({10, 5});
    const Node before = node;
    EXPECT_EQ(do_all(node, {weight(0, 10), weight(1, 5)}).value(), Change::unchanged);
    EXPECT_EQ(do_all(node, {}).value(), Change::unchanged);
    EXPECT_EQ(node, before);
}

TEST(DoAll, MaxInstIsLoweredWithTheWeights) {
    Node node = with({12, 8});
    ASSERT_TRUE(do_all(node, {max_inst(10), weight(0, 6), weight(1, 4)}));
    EXPECT_EQ(node.find_gpu(uuid(0))->settings.max_inst, 10U);
    ASSERT_TRUE(do_all(node, {weight(0, 20), weight(1, 5), max_inst(25)}));
    EXPECT_EQ(node.free_weight(uuid(0)), 0U);
}

/// The order of the changes decides nothing: they are done if and only if the result fits.
RC_GTEST_PROP(DoAllProperty, OnlyTheResultIsJudged, ()) {
    const auto count = *rc::gen::inRange<std::size_t>(1, 8);
    const auto some = [count](std::uint32_t most) {
        return *rc::gen::container<std::vector<std::uint32_t>>(count, rc::gen::inRange(1U, most));
    };
    const auto sum = [](const std::vector<std::uint32_t>& all) {
        return std::accumulate(all.begin(), all.end(), 0U);
    };
    const auto first = some(6);
    RC_PRE(sum(first) <= 20U);
    const auto weights = some(7);
    const auto mib = some(300);
    std::vector<Transition> all;
    all.reserve(2 * count);
    std::vector<std::size_t> order(2 * count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (auto left = order.size(); left > 1; --left)
        std::swap(order[left - 1], order[*rc::gen::inRange<std::size_t>(0, left)]);
    for (const auto place : order)
        all.push_back(place < count ? weight(place, weights[place])
                                    : memory(place - count, mib[place - count]));

    Node node = with(first);
    const Node before = node;
    const auto done = do_all(node, all);
    RC_ASSERT(done.has_value() == (sum(weights) <= 20 && sum(mib) <= 1000));
    if (!done) RC_ASSERT(node == before);
    for (std::size_t which = 0; done && which < count; ++which) {
        const Quota& its = node.find_instance(id(name_of(which)))->quotas[0];
        RC_ASSERT(its.weight == weights[which]);
        RC_ASSERT(its.memory_limit == Bytes::from_mib(mib[which]));
    }
}

}  // namespace
}  // namespace cgpu::model
