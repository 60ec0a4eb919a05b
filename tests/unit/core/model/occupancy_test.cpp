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

/// What is shown of a GPU, or done for it, is kept as long as it isn't among the changed ones.
RC_GTEST_PROP(ChangedGpus, are_all_that_answer_otherwise, ()) {
    Node before = test::node({gpu(0, 10'000), gpu(1, 10'000), gpu(2, 10'000)});
    const auto change_some = [](Node& node) {
        for (int step = *rc::gen::inRange(0, 6); step > 0; --step) {
            const auto id = *InstanceId::parse(std::string(1, *rc::gen::inRange('a', 'e')));
            const auto n = *rc::gen::inRange<std::uint8_t>(0, 3);
            switch (*rc::gen::inRange(0, 5)) {
                case 0: {
                    auto made = instance(id.str(), {quota(n, 1'000, 1)});
                    if (n > 0 && *rc::gen::arbitrary<bool>()) made.quotas.push_back(quota(0, 1'000, 1));
                    static_cast<void>(node.add_instance(made));
                    break;
                }
                case 1:
                    static_cast<void>(node.remove_instance(id));
                    break;
                case 2:
                    static_cast<void>(node.set_weight(id, uuid(n), *rc::gen::inRange(1U, 4U)));
                    break;
                case 3:
                    static_cast<void>(node.set_policy(uuid(n), Policy::native));
                    break;
                default:
                    static_cast<void>(node.set_drained(uuid(n), true));
            }
        }
    };
    change_some(before);
    Node now = before;
    RC_ASSERT(changed_gpus(before, now).empty());
    change_some(now);
    const auto changed = changed_gpus(before, now);
    const Occupancy then(before);
    const Occupancy since(now);
    for (const Gpu& each : now.gpus()) {
        if (changed.contains(each.uuid)) continue;
        RC_ASSERT(*before.find_gpu(each.uuid) == each);
        RC_ASSERT(then.mode_in_force(each) == since.mode_in_force(each));
        RC_ASSERT(then.on(each.uuid).size() == since.on(each.uuid).size());
        for (std::size_t i = 0; i < since.on(each.uuid).size(); ++i) {
            RC_ASSERT(then.on(each.uuid)[i].instance == since.on(each.uuid)[i].instance);
            RC_ASSERT(then.on(each.uuid)[i].quota == since.on(each.uuid)[i].quota);
        }
    }
    RC_ASSERT(changed_gpus(Node(), now).size() == now.gpus().size());
}

}  // namespace
}  // namespace cgpu::model
