#include <gtest/gtest.h>

#include "tests/unit/core/support/nodes.hpp"

namespace cgpu::model {
namespace {

using namespace cgpu::test;

struct Saved {
    std::uint64_t generation = 9;
    std::vector<Gpu> gpus = {Gpu{gpu(0, 16130).gpu, {}, true}, Gpu{gpu(1, 16130).gpu, {}, false}};
    std::vector<Instance> instances = {instance("a", {quota(0, 100, 5), quota(1, 100, 1)}),
                                       instance("b", {quota(0, 1)})};

    auto restore() const { return Node::restore(generation, gpus, instances); }
};

TEST(NodeRestore, GivesBackTheSameNode) {
    Node n = node({gpu(0, 16130), gpu(1, 15109)});
    ASSERT_TRUE(n.add_instance(instance("a", {quota(0, 100, 5), quota(1, 100, 1)})).has_value());
    ASSERT_TRUE(n.sync_gpus({gpu(0, 16130)}).has_value());
    std::vector<Instance> instances;
    for (const auto& [id, saved] : n.instances()) instances.push_back(saved);
    const auto restored = Node::restore(n.generation(), n.gpus(), instances);
    ASSERT_TRUE(restored.has_value()) << restored.error().text;
    EXPECT_EQ(*restored, n);
}

TEST(NodeRestore, TakesACardThatHasBecomeSmaller) {
    Saved saved;
    saved.gpus[0].total = Bytes::from_mib(50);
    EXPECT_TRUE(saved.restore().has_value());
}

TEST(NodeRestore, RefusesABrokenRule) {
    ASSERT_TRUE(Saved{}.restore().has_value());
    std::vector<Saved> broken(12);
    broken[0].gpus[1] = broken[0].gpus[0];
    broken[1].gpus[0].settings.max_inst = 26;
    broken[2].gpus[0].settings.max_inst = 1;
    broken[3].gpus[0].settings.max_inst = 5;  // weights add up to 6
    broken[4].gpus[0].settings.prio_ratio = 19;
    broken[5].gpus.pop_back();
    broken[6].instances[1] = broken[6].instances[0];
    broken[7].instances[0].quotas.clear();
    broken[8].instances[0].quotas[1] = broken[8].instances[0].quotas[0];
    broken[9].instances[0].quotas[0].memory_limit = Bytes();
    broken[10].instances[1].mode = Mode::memory;
    broken[11].instances[0].generation = 10;
    for (std::size_t i = 0; i < broken.size(); ++i) {
        const auto restored = broken[i].restore();
        ASSERT_FALSE(restored.has_value()) << i;
        expect_well_formed(restored.error());
    }
    Saved exclusive;
    exclusive.instances[1].quotas[0].exclusive = true;
    EXPECT_FALSE(exclusive.restore().has_value());
    Saved percent;
    percent.instances[0].quotas[0].percent = 25;
    EXPECT_TRUE(percent.restore().has_value()) << "5 of 20";
    for (const std::uint32_t other : {30U, 24U, 101U, 4294967295U}) {
        percent.instances[0].quotas[0].percent = other;
        EXPECT_FALSE(percent.restore().has_value()) << other;
    }
    Saved attached;
    attached.instances[0].attached = Process{0, 1, "boot"};
    EXPECT_FALSE(attached.restore().has_value());
}

}  // namespace
}  // namespace cgpu::model
