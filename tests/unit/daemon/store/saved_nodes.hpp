#pragma once

#include "tests/unit/core/support/nodes.hpp"

namespace cgpu::test {

/// A node with every kind of thing that is saved.
inline model::Node full_node() {
    model::GpuSettings settings;
    settings.policy = model::Policy::fixed;
    settings.max_inst = 25;
    settings.prio_ratio = 99;
    settings.mode = model::Mode::memory;
    settings.by_hand = {true, false, true};
    model::Sighting mig = gpu(2, 40960);
    mig.gpu.obstacle = "the card is divided by MIG";
    model::Node n = node({gpu(0, 16130, settings), gpu(1, 15109), mig});
    model::Quota first = quota(0, 4301, 0);
    first.high_priority = true;
    model::Quota second = quota(1, 2048, 20);
    second.exclusive = true;
    second.percent = 100;
    model::Instance made = instance("012b2edccd7a0852", {first, second}, model::Mode::memory_compute);
    made.name = "quoted \"name\" \xc3\xa4\n";
    made.creator = 1000;
    made.owner.user = 1000;
    made.image = "team/train:1";
    EXPECT_TRUE(n.add_instance(made).has_value());
    EXPECT_TRUE(n.attach(made.id, {4242, 123456789, "5f3a-boot"}).has_value());
    auto declares = instance("b", {quota(0, 1)});
    declares.owner.declared = "alice";
    declares.idle = model::IdleLimit{1800, 123456789012346, true};
    EXPECT_TRUE(n.add_instance(declares).has_value());
    EXPECT_TRUE(n.set_paused(declares.id, uuid(0), true).has_value());
    EXPECT_TRUE(n.set_time(declares.id, {7200, 123456789012345, true, true}).has_value());
    auto held = instance("h", {quota(0, 1)});
    held.time = model::TimeLimit{600, 123456789012345};
    held.reservation = model::Reservation{std::string(32, 'a'), 7200, 1800, "5f3a-boot"};
    EXPECT_TRUE(n.add_instance(held).has_value());
    auto ended = instance("c", {quota(0, 1)});
    ended.name = "ended";
    ended.owner.user = 1001;
    ended.time = model::TimeLimit{60, 5, true};
    ended.idle = model::IdleLimit{30, 4};
    EXPECT_TRUE(n.add_instance(ended).has_value());
    EXPECT_TRUE(n.remove_instance(ended.id).has_value());
    EXPECT_TRUE(n.grant_spent(ended.id, 600).has_value());
    EXPECT_TRUE(n.set_drained(uuid(1), true).has_value());
    EXPECT_TRUE(n.keep(made.id, uuid(0), {model::Bytes::from_gib(2), std::nullopt, false}).has_value());
    EXPECT_TRUE(n.keep(made.id, uuid(1), {std::nullopt, 4, std::nullopt}).has_value());
    EXPECT_TRUE(n.set_memory(made.id, uuid(1), model::Bytes::from_mib(3000), {}).has_value());
    n.set_boot_id("5f3a-boot");
    EXPECT_TRUE(n.set_policy(uuid(1), model::Policy::soft, model::Lasts::until_reboot).has_value());
    EXPECT_EQ(n.set_default_memory(model::Bytes::from_gib(1), model::Lasts::until_reboot),
              model::Change::changed);
    EXPECT_TRUE(n.sync_gpus({gpu(0, 16130), gpu(1, 15109)}).has_value());
    return n;
}

}  // namespace cgpu::test
