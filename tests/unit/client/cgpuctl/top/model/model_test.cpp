#include "client/cgpuctl/top/model/model.hpp"

#include <gtest/gtest.h>

#include "tests/unit/client/support/readings.hpp"

namespace cgpu::cgpuctl::top {
namespace {

constexpr std::uint64_t kQuarter = 250'000'000;  // nanoseconds of a second

class TopModel : public testing::Test {
  protected:
    client::Usage& usage() { return snapshot_.instances[0].gpus[0].usage; }
    const InstanceRow& row() { return model_.rows().instances.at(0); }

    client::Snapshot snapshot_ = two_gpus();
    Model model_;
};

TEST_F(TopModel, TheFirstReadingHasWhatCgpudHasMeasured) {
    model_.add(reading_at(snapshot_, 0));
    ASSERT_EQ(model_.rows().gpus.size(), 2U);
    ASSERT_EQ(model_.rows().instances.size(), 1U);
    EXPECT_EQ(row().name, "web");
    EXPECT_EQ(row().place, (PlaceId{kWebId, kUuid0}));
    EXPECT_EQ(row().due, 1);
    EXPECT_EQ(row().got, 0.333);
    EXPECT_EQ(row().waiting, std::nullopt);
    EXPECT_EQ(row().memory_used, 200 * kMib);
    EXPECT_EQ(row().memory_limit, 4301 * kMib);
    EXPECT_EQ(row().processes, 2U);
    const GpuRow& gpu = model_.rows().gpus[0];
    EXPECT_EQ(gpu.policy, "weighted");
    EXPECT_EQ(gpu.instances, 1U);
    EXPECT_EQ(gpu.max_inst, 20U);
    EXPECT_EQ(gpu.utilization, 0.333);
    EXPECT_EQ(model_.rows().gpus[1].utilization, 0);
    EXPECT_EQ(model_.version(), "1.2.3");
    EXPECT_EQ(model_.taken(), 1700000000U);
}

TEST_F(TopModel, LaterOnesHaveTheFiguresOfTheInterval) {
    model_.add(reading_at(snapshot_, 0));
    usage().gpu_time += 2 * kQuarter;
    usage().waited += kQuarter;
    model_.add(reading_at(snapshot_, 2));
    EXPECT_EQ(row().got, 0.25);
    EXPECT_EQ(row().waiting, 0.125);
    EXPECT_EQ(model_.rows().gpus[0].utilization, 0.25);
    EXPECT_EQ(row().history, (History{0.333, 0.25}));
    // The moments of readings aren't exact.
    usage().waited += 5 * kQuarter;
    model_.add(reading_at(snapshot_, 3));
    EXPECT_EQ(row().waiting, 1);
}

TEST_F(TopModel, AfterAGapNothingRefersToBeforeIt) {
    model_.add(reading_at(snapshot_, 0));
    model_.gap();
    EXPECT_EQ(model_.rows().instances.size(), 1U);
    // The times of a new cgpud may be larger than those of the former one.
    usage().gpu_time += 4 * kQuarter;
    model_.add(reading_at(snapshot_, 1));
    EXPECT_EQ(row().got, 0.333);
    EXPECT_EQ(row().waiting, std::nullopt);
    EXPECT_EQ(row().history.size(), 2U);
}

TEST_F(TopModel, TheHistoryHasAnEnd) {
    for (int second = 0; second < 200; ++second) {
        usage().gpu_time += second < 100 ? 0 : kQuarter;
        model_.add(reading_at(snapshot_, second));
    }
    EXPECT_EQ(row().history.size(), Model::kKept);
    EXPECT_EQ(row().history.front(), 0);
    EXPECT_EQ(row().history.back(), 0.25);
}

TEST_F(TopModel, AnInstanceThatHasEndedLeavesNothing) {
    model_.add(reading_at(snapshot_, 0));
    const auto web = snapshot_.instances;
    snapshot_.instances.clear();
    model_.add(reading_at(snapshot_, 1));
    EXPECT_TRUE(model_.rows().instances.empty());
    snapshot_.instances = web;
    model_.add(reading_at(snapshot_, 2));
    EXPECT_EQ(row().history.size(), 1U);
}

TEST_F(TopModel, WhatIsNotMeasuredHasNoFigure) {
    usage().target_share = usage().achieved_share = std::nullopt;
    snapshot_.gpus[0].policy_name = "native";
    model_.add(reading_at(snapshot_, 0));
    model_.add(reading_at(snapshot_, 1));
    EXPECT_EQ(row().due, std::nullopt);
    EXPECT_EQ(row().got, std::nullopt);
    EXPECT_EQ(row().waiting, std::nullopt);
    EXPECT_EQ(model_.rows().gpus[0].utilization, std::nullopt);
}

TEST_F(TopModel, AnInstanceHasARowForEachGpu) {
    client::Instance& both = add_instance(snapshot_, "fedc", "both", 1);
    both.gpus.push_back(snapshot_.instances[0].gpus[0]);
    snapshot_.instances[0].foreign_gpus = {{kUuid1, 1, {}}};
    snapshot_.instances[0].foreign_gpus[0].usage.processes_outside = {4713};
    model_.add(reading_at(snapshot_, 0));
    const auto& rows = model_.rows().instances;
    ASSERT_EQ(rows.size(), 4U);
    EXPECT_EQ(rows[0].place, (PlaceId{kWebId, kUuid0}));
    EXPECT_EQ(rows[1].place, (PlaceId{"fedc", kUuid0}));
    EXPECT_EQ(rows[2].place, (PlaceId{kWebId, kUuid1}));
    EXPECT_FALSE(rows[2].own);
    EXPECT_EQ(rows[2].processes, 1U);
    EXPECT_EQ(rows[3].place, (PlaceId{"fedc", kUuid1}));
}

}  // namespace
}  // namespace cgpu::cgpuctl::top
