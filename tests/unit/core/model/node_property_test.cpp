#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "tests/unit/core/nodes.hpp"

namespace cgpu::model {
namespace {

using namespace cgpu::test;

constexpr std::uint64_t kTotalMib = 1000;

/// Random transitions with values in and around the legal ranges.
class Walk {
  public:
    Node node = test::node({gpu(0, kTotalMib), gpu(1, kTotalMib), gpu(2, kTotalMib)});

    tl::expected<Change, Refusal> step() {
        const auto action = *rc::gen::inRange(0, 11);
        const auto uuid = test::uuid(*rc::gen::inRange<std::uint8_t>(0, 4));
        const auto name = id(std::string(1, *rc::gen::inRange<char>('a', 'k')));
        switch (action) {
            case 0:
            case 1:
            case 2:
                return node.add_instance(random_instance(name.str()));
            case 3:
                return node.remove_instance(name);
            case 4:
                return node.set_policy(uuid, static_cast<Policy>(*rc::gen::inRange(0U, 6U)));
            case 5:
                return node.set_max_inst(uuid, *rc::gen::inRange(0U, 28U));
            case 6:
                return node.set_weight(name, uuid, *rc::gen::inRange(0U, 28U));
            case 7:
                return node.set_memory(name, uuid, random_memory(), random_memory());
            case 8:
                return node.set_mode(uuid, random_mode());
            case 9:
                return node.attach(name, {*rc::gen::inRange(0, 3), 1, "boot"});
            default:
                return node.sync_gpus(random_sightings());
        }
    }

  private:
    static Bytes random_memory() {
        return Bytes::from_mib(*rc::gen::inRange<std::uint64_t>(0, kTotalMib + 100));
    }
    static Mode random_mode() { return static_cast<Mode>(*rc::gen::inRange(0U, 3U)); }

    static Instance random_instance(const std::string& name) {
        std::vector<Quota> quotas;
        for (auto count = *rc::gen::inRange(1, 4); count > 0; --count) {
            Quota random = quota(*rc::gen::inRange<std::uint8_t>(0, 4),
                                 *rc::gen::inRange<std::uint64_t>(0, 500), *rc::gen::inRange(0U, 8U));
            random.exclusive = *rc::gen::inRange(0, 10) == 0;
            quotas.push_back(random);
        }
        return instance(name, quotas, *rc::gen::inRange(0, 5) == 0 ? random_mode() : Mode::memory_compute);
    }

    static std::vector<Sighting> random_sightings() {
        std::vector<Sighting> seen;
        for (std::uint8_t n = 0; n < 4; ++n)
            if (*rc::gen::inRange(0, 4) != 0) seen.push_back(gpu(n, kTotalMib));
        return seen;
    }
};

RC_GTEST_PROP(NodeProperty, EverySequenceKeepsTheRules, ()) {
    Walk walk;
    for (auto steps = *rc::gen::inRange(1, 80); steps > 0; --steps) {
        const Node before = walk.node;
        const auto result = walk.step();
        if (!result || *result == Change::unchanged) {
            RC_ASSERT(walk.node == before);
        } else {
            RC_ASSERT(walk.node.generation() > before.generation());
        }
        if (!result) RC_ASSERT(result.error().text.find(". Try: ") != std::string::npos);
        for (const Gpu& gpu : walk.node.gpus()) {
            RC_ASSERT(walk.node.allocated(gpu.uuid) <= gpu.total);
            RC_ASSERT(walk.node.free_weight(gpu.uuid) <= gpu.settings.max_inst);
            RC_ASSERT(walk.node.occupants_of(gpu.uuid).size() <= gpu.settings.max_inst);
        }
        std::vector<Instance> instances;
        for (const auto& [id, instance] : walk.node.instances()) instances.push_back(instance);
        const auto restored = Node::restore(walk.node.generation(), walk.node.gpus(), instances);
        RC_ASSERT(restored.has_value());
        RC_ASSERT(*restored == walk.node);
    }
}

}  // namespace
}  // namespace cgpu::model
