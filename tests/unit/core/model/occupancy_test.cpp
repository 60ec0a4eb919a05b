#include "core/model/occupancy.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "tests/unit/core/support/nodes.hpp"

namespace cgpu::model {
namespace {

using namespace cgpu::test;

RC_GTEST_PROP(Occupancy, answers_as_the_node_itself, ()) {
    Node node = test::node({gpu(0, 10'000), gpu(1, 10'000), gpu(2, 10'000)});
    const auto instances = *rc::gen::inRange(0, 12);
    const auto mode = static_cast<Mode>(*rc::gen::inRange(0U, 3U));
    for (int each = 0; each < instances; ++each) {
        auto made = instance(std::string(1, static_cast<char>('a' + each)), {});
        made.mode = mode;
        for (std::uint8_t n = 0; n < 3; ++n)
            if (*rc::gen::arbitrary<bool>())
                made.quotas.push_back(
                    quota(n, *rc::gen::inRange<std::uint64_t>(1, 2'000), *rc::gen::inRange(0U, 4U)));
        static_cast<void>(node.add_instance(made));
    }
    for (std::uint8_t n = 0; n < 3; ++n)
        static_cast<void>(node.set_policy(uuid(n), static_cast<Policy>(*rc::gen::inRange(0U, 6U))));
    const Occupancy now(node);
    for (const Gpu& each : node.gpus()) {
        const auto expected = node.occupants_of(each.uuid);
        const auto& there = now.on(each.uuid);
        RC_ASSERT(there.size() == expected.size());
        for (std::size_t i = 0; i < there.size(); ++i) {
            RC_ASSERT(there[i].instance == expected[i].instance);
            RC_ASSERT(there[i].quota == expected[i].quota);
        }
        RC_ASSERT(now.allocated(each.uuid) == node.allocated(each.uuid));
        RC_ASSERT(now.free_weight(each) == node.free_weight(each.uuid));
        RC_ASSERT(now.mode_in_force(each) == node.mode_in_force(each));
        RC_ASSERT(now.policy_in_force(each) == node.policy_in_force(each));
    }
    RC_ASSERT(now.on(uuid(7)).empty());
}

}  // namespace
}  // namespace cgpu::model
