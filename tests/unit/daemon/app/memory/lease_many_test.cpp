// A node with many instances: what is asked about one of them must not go over all.
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/daemon/app/memory/lease_fakes.hpp"

namespace cgpu::app::test {
namespace {

constexpr std::uint8_t kGpus = 16;
constexpr int kOnEach = 25;

model::Instance instance_on(const std::string& id, const model::Uuid& uuid, std::uint64_t generation = 1) {
    auto made = instance(id.c_str(), kGiB, generation);
    made.quotas.front().gpu = uuid;
    return made;
}

template <class Pools>
std::vector<PoolKey> keys_of(const Pools& pools) {
    std::vector<PoolKey> keys;
    for (const auto& [key, entry] : pools) keys.push_back(key);
    return keys;
}

/// The ids are beginnings of each other, so their order isn't that of their lengths.
std::string id_of(int n) { return "i" + std::to_string(n); }

struct ManyInstances : testing::Test {
    ManyInstances() {
        leases.set_peers(&fronts);
        fronts.loop = &loop;
        fronts.leases = &leases;
        for (int n = 0; n < kGpus * kOnEach; ++n)
            leases.set_instance(instance_on(id_of(n), gpu(static_cast<std::uint8_t>(1 + n % kGpus))));
    }
    LeaseLoop loop;
    LeaseProcesses processes;
    LeaseGpus gpus{loop};
    LeaseMemory table;
    LeaseFronts fronts;
    Events events;
    Leases leases{{loop, processes, gpus, table, events}};
};

TEST_F(ManyInstances, the_pools_of_one_are_its_own_alone) {
    const auto& pools = leases.pools();
    ASSERT_EQ(pools.all().size(), std::size_t{kGpus} * kOnEach);
    for (int n = 0; n < kGpus * kOnEach; ++n) {
        const auto made = instance_on(id_of(n), gpu(static_cast<std::uint8_t>(1 + n % kGpus)));
        const std::vector<PoolKey> expected{{key_of(made), made.quotas.front().gpu}};
        EXPECT_EQ(keys_of(pools.of(made.id)), expected) << id_of(n);
        EXPECT_EQ(keys_of(pools.of(key_of(made))), expected) << id_of(n);
    }
    EXPECT_TRUE(pools.of(*model::InstanceId::parse("i")).empty());
    EXPECT_TRUE(pools.of(*model::InstanceId::parse("zz")).empty());
}

TEST_F(ManyInstances, the_pools_on_a_gpu_are_those_of_its_instances_alone) {
    const auto& pools = leases.pools();
    for (std::uint8_t n = 1; n <= kGpus; ++n) {
        EXPECT_EQ(pools.on(gpu(n)).size(), std::size_t{kOnEach});
        for (const auto& [key, entry] : pools.on(gpu(n))) {
            EXPECT_EQ(key.gpu, gpu(n));
            EXPECT_EQ(pools.find(key), entry);
        }
    }
    EXPECT_TRUE(pools.on(gpu(kGpus + 1)).empty());
}

TEST_F(ManyInstances, both_ways_know_who_has_come_and_who_has_gone) {
    const auto& pools = leases.pools();
    const auto id = *model::InstanceId::parse(id_of(0));
    leases.set_instance(instance_on(id_of(0), gpu(1), 2));  // another life of it, as long as the first lasts
    leases.set_instance(instance_on(id_of(0), gpu(2), 2));
    EXPECT_EQ(keys_of(pools.of(id)).size(), 3U);
    EXPECT_EQ(keys_of(pools.of(InstanceKey{id, 2})).size(), 2U);
    EXPECT_EQ(pools.on(gpu(1)).size(), kOnEach + 1U);
    EXPECT_EQ(pools.on(gpu(2)).size(), kOnEach + 1U);
    leases.drop_instance(id);
    EXPECT_TRUE(pools.of(id).empty());
    EXPECT_EQ(pools.on(gpu(1)).size(), kOnEach - 1U);
    EXPECT_EQ(pools.on(gpu(2)).size(), std::size_t{kOnEach});
    EXPECT_EQ(pools.all().size(), std::size_t{kGpus} * kOnEach - 1);
}

TEST_F(ManyInstances, a_pid_is_found_among_others_and_told_from_its_earlier_process) {
    const auto key = key_of(instance_on(id_of(0), gpu(1)));
    for (const std::int32_t pid : {1, 7, 70, 71}) ASSERT_TRUE(leases.process_entered(key, {pid, 5, "boot"}));
    const auto& pools = leases.pools();
    EXPECT_TRUE(pools.knows(gpu(1), 7));
    EXPECT_FALSE(pools.knows(gpu(1), 8));
    EXPECT_FALSE(pools.knows(gpu(2), 7));
    EXPECT_FALSE(pools.pid_was_reused(gpu(1), {7, 5, "boot"}));
    EXPECT_TRUE(pools.pid_was_reused(gpu(1), {7, 4, "boot"}));
    EXPECT_TRUE(pools.pid_was_reused(gpu(1), {7, 6, "boot"}));
    EXPECT_FALSE(pools.pid_was_reused(gpu(1), {8, 6, "boot"}));
}

/// Its processes may use any GPU. But the driver is asked about all of them regularly, anyway.
TEST_F(ManyInstances, one_that_comes_or_changes_asks_the_driver_about_its_own_gpu_only) {
    std::vector<model::Uuid> all;
    for (std::uint8_t n = 1; n <= kGpus; ++n) all.push_back(gpu(n));
    leases.set_gpus(all);
    loop.advance(kMs);  // all are answered
    const int before = gpus.looks;
    leases.set_instance(instance_on("new", gpu(3)));
    loop.advance(kMs);
    EXPECT_EQ(gpus.looks - before, 1);
    leases.set_instance(instance_on("new", gpu(3)));
    loop.advance(kMs);
    EXPECT_EQ(gpus.looks - before, 2);
    loop.advance(2'000 * kMs);
    EXPECT_GE(gpus.looks - before, 2 + kGpus);
}

/// The first that has a limit begins the looks at all GPUs.
TEST(FirstInstance, begins_the_looks_at_all_gpus) {
    LeaseLoop loop;
    LeaseProcesses processes;
    LeaseGpus gpus{loop};
    LeaseMemory table;
    Events events;
    Leases leases{{loop, processes, gpus, table, events}};
    leases.set_gpus({gpu(1), gpu(2), gpu(3)});
    loop.advance(10'000 * kMs);
    EXPECT_EQ(gpus.looks, 0);
    leases.set_instance(instance_on("new", gpu(3)));
    loop.advance(kMs);
    EXPECT_EQ(gpus.looks, 3);
    leases.drop_instance(*model::InstanceId::parse("new"));
    loop.advance(10'000 * kMs);
    const int rested = gpus.looks;
    loop.advance(10'000 * kMs);
    EXPECT_EQ(gpus.looks, rested);
    leases.set_instance(instance_on("new", gpu(3)));
    loop.advance(kMs);
    EXPECT_EQ(gpus.looks, rested + 3);
}

}  // namespace
}  // namespace cgpu::app::test
