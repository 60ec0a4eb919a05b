#include "core/queue/forecast.hpp"

#include <gtest/gtest.h>

#include "tests/unit/core/queue/queue_line.hpp"

namespace cgpu::queue {
namespace {

using namespace cgpu::test;

Needs needs(const Line& line, const Waiting& waiting) {
    return needs_of(cleared(line.node), waiting, line.defaults, nullptr);
}

TEST(QueueForecast, MomentsAreTheEndsThatAreKnown) {
    Line line{v100()};
    line.run("a", 0, 4096, 300);
    line.run("b", 0, 4096, 200);
    line.run("c", 0, 4096);
    line.run("late", 0, 1024, 50);
    const Forecast forecast(line.node, line.ends, 100);
    ASSERT_EQ(forecast.moments(), 4U);
    EXPECT_EQ(forecast.at(1), 101) << "it is past its end, and still there";
    EXPECT_EQ(forecast.at(2), 200);
    EXPECT_EQ(forecast.at(3), 300);
    EXPECT_EQ(forecast.room_at(0, 0).memory.mib(), 13312U);
    EXPECT_EQ(forecast.room_at(1, 0).memory.mib(), 12288U);
    EXPECT_EQ(forecast.room_at(3, 0).memory.mib(), 4096U);
    EXPECT_EQ(forecast.room_at(3, 0).instances, 1U);
}

TEST(QueueForecast, TheNodeOfAMomentHasTheSums) {
    Line line{node({gpu(0, 16130), gpu(1, 16130)})};
    line.run("a", 0, 4096, 300);
    line.run("b", 0, 2048);
    line.run("c", 1, 2048);
    line.node.set_held_unmanaged({{uuid(0), model::Bytes::from_mib(100)}});
    const Forecast forecast(line.node, line.ends, 100);
    const auto now = forecast.node_at(0, {true, false});
    EXPECT_EQ(now.free_memory(uuid(0)), line.node.free_memory(uuid(0)));
    EXPECT_EQ(now.free_weight(uuid(0)), line.node.free_weight(uuid(0)));
    EXPECT_FALSE(now.find_gpu(uuid(0))->drained);
    EXPECT_TRUE(now.find_gpu(uuid(1))->drained);
    EXPECT_EQ(forecast.node_at(1, {true, false}).free_memory(uuid(0)).mib(), 16130U - 2048 - 100);
}

TEST(QueueForecast, WhatIsAddedTakesRoomFromItsBeginToItsEnd) {
    Line line{v100()};
    line.run("a", 0, 8192, 300);
    Forecast forecast(line.node, line.ends, 100);
    forecast.add({model::Mode::memory_compute, {quota(0, 16000)}, 300, 500});
    const auto small = needs(line, waiting(1024));
    EXPECT_EQ(forecast.room_for(small, 0, 300), GpuSet{true});
    EXPECT_EQ(forecast.room_for(small, 0, 301), GpuSet{false});
    EXPECT_EQ(forecast.room_for(small, forecast.moment_of(300), 400), GpuSet{false});
    EXPECT_EQ(forecast.room_for(small, forecast.moment_of(500), kNever), GpuSet{true});
    EXPECT_EQ(forecast.begins_between(100, kNever), std::vector<std::size_t>{1});
}

TEST(QueueForecast, NotBeforeWhatHasATimeLimitHasEnded) {
    Line line{node({gpu(0, 16130), gpu(1, 16130)})};
    line.run("a", 0, 8192, 300);
    line.run("b", 1, 12288, 200);
    line.run("c", 1, 2048);
    Forecast forecast(line.node, line.ends, 100);
    EXPECT_EQ(forecast.not_before(needs(line, waiting(4096))), 100);
    EXPECT_EQ(forecast.not_before(needs(line, waiting(16130))), 200) << "c may end at any moment";
    EXPECT_EQ(forecast.not_before(needs(line, waiting_for(0, 16130))), 300);
    EXPECT_EQ(forecast.not_before(needs(line, waiting_on(2, 16130))), 300);
    forecast.add({model::Mode::memory_compute, {quota(1, 1024)}, 100, 900});
    EXPECT_EQ(forecast.not_before(needs(line, waiting(16130))), 300);
}

TEST(QueueNeeds, WhereItCouldEverBe) {
    Line line{node({gpu(0, 16130), gpu(1, 15109), gpu(2, 8192)})};
    line.run("a", 0, 16130);
    const auto on = [&](const Waiting& waiting) {
        std::vector<bool> gpus;
        for (const auto& need : needs(line, waiting).on) gpus.push_back(need.has_value());
        return gpus;
    };
    EXPECT_EQ(on(waiting(10000)), (std::vector{true, true, false}));
    EXPECT_EQ(on(waiting_for(2, 10)), (std::vector{false, false, true}));
    EXPECT_TRUE(line.node.set_drained(uuid(0), true));
    EXPECT_EQ(on(waiting(10000)), (std::vector{false, true, false}));
    EXPECT_FALSE(needs(line, waiting(16000)).fits_alone());
    line.defaults.default_memory = {};
    EXPECT_FALSE(needs(line, waiting({{"ALIYUN_COM_GPU_MEM_CONTAINER", ""}})).managed);
}

}  // namespace
}  // namespace cgpu::queue
