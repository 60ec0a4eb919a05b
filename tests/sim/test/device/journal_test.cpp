#include "tests/sim/device/file/journal.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace simgpu::test {
namespace {

TEST(Journal, RollsBackWhatWasNotCommittedNewestFirst) {
    const auto layout = std::make_unique<Layout>();
    Journal journal(*layout);
    layout->process_serial = 1;
    journal.save(layout->process_serial);
    layout->process_serial = 2;
    journal.save(layout->process_serial);
    layout->process_serial = 3;
    journal.save(layout->process_count);
    layout->process_count = 7;
    EXPECT_TRUE(journal.roll_back());
    EXPECT_EQ(layout->process_serial, 1U);
    EXPECT_EQ(layout->process_count, 0U);
    EXPECT_FALSE(journal.roll_back());
}

TEST(Journal, KeepsWhatWasCommitted) {
    const auto layout = std::make_unique<Layout>();
    Journal journal(*layout);
    journal.save(layout->process_serial);
    layout->process_serial = 2;
    journal.commit();
    EXPECT_FALSE(journal.roll_back());
    EXPECT_EQ(layout->process_serial, 2U);
}

TEST(Journal, HoldsTheLargestTimeline) {
    const auto layout = std::make_unique<Layout>();
    layout->timeline.gpu_count = kMaxGpus;
    for (GpuState& gpu : layout->timeline.gpus) {
        gpu.client_count = kMaxClients;
        for (ClientState& client : gpu.clients) client.queue_count = kMaxQueues;
    }
    Journal journal(*layout);
    journal.save_timeline();
    journal.save(layout->processes);
    EXPECT_LT(layout->journal.used.load(), sizeof layout->journal.data);
    layout->timeline.gpus[kMaxGpus - 1].clients[kMaxClients - 1].queues[kMaxQueues - 1].head = 5;
    EXPECT_TRUE(journal.roll_back());
    EXPECT_EQ(layout->timeline.gpus[kMaxGpus - 1].clients[kMaxClients - 1].queues[kMaxQueues - 1].head, 0U);
}

}  // namespace
}  // namespace simgpu::test
