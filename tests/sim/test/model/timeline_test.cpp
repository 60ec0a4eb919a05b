#include <gtest/gtest.h>

#include "tests/sim/test/model/model_gpus.hpp"

namespace simgpu::test {
namespace {

TEST(Timeline, KernelAloneTakesItsDurationToTheNanosecond) {
    ModelGpus gpus(1);
    gpus.add_client(0, 0, 1);
    const Record& first = gpus.kernel({0, 0, 0, 0}, 1000, 123'457);
    const Record& second = gpus.kernel({0, 0, 0, 0}, 2000, 7);
    gpus.advance(kMillisecond);
    EXPECT_EQ(first.started, 1000);
    EXPECT_EQ(first.completed, 124'457);
    EXPECT_EQ(second.started, 124'457);
    EXPECT_EQ(second.completed, 124'464);
    EXPECT_EQ(gpus.served(0, 0), 123'464);
}

TEST(Timeline, KernelAloneRunsThroughItsSlicesWithoutASwitch) {
    ModelGpus gpus(1);
    gpus.add_client(0, 0, 1);
    const Record& record = gpus.kernel({0, 0, 0, 0}, 0, 100 * kMillisecond);
    gpus.advance(kMillisecond * 1000);
    EXPECT_EQ(record.completed, 100 * kMillisecond);
}

TEST(Timeline, TwoContextsTakeTurnsOfASliceWithASwitchBetween) {
    ModelGpus gpus(1);
    gpus.add_client(0, 0, 1);
    gpus.add_client(0, 1, 1);
    gpus.kernel({0, 0, 0, 0}, 0, 1000 * kMillisecond);
    gpus.kernel({0, 1, 0, 0}, 0, 1000 * kMillisecond);
    const Nanoseconds round = 2 * (kSlice + kSwitch);
    gpus.advance(100 * round);
    EXPECT_EQ(gpus.served(0, 0), 100 * kSlice);
    // The first switch of all costs nothing, so the last one isn't over yet.
    EXPECT_EQ(gpus.served(0, 1), 100 * kSlice);
    EXPECT_EQ(gpus.state->gpus[0].busy.total(), 200 * kSlice);
}

TEST(Timeline, AnIdleContextPassesItsTurnOn) {
    ModelGpus gpus(1);
    gpus.add_client(0, 0, 1);
    gpus.add_client(0, 1, 1);
    const Record& brief = gpus.kernel({0, 0, 0, 0}, 0, 10 * kMicrosecond);
    const Record& other = gpus.kernel({0, 1, 0, 0}, 0, 10 * kMicrosecond);
    gpus.advance(kMillisecond);
    EXPECT_EQ(brief.completed, 10 * kMicrosecond);
    EXPECT_EQ(other.started, 10 * kMicrosecond + kSwitch);
    EXPECT_EQ(other.completed, 20 * kMicrosecond + kSwitch);
}

TEST(Timeline, StreamsOfAContextShareTheGpu) {
    ModelGpus gpus(1);
    gpus.add_client(0, 0, 2);
    const Record& one = gpus.kernel({0, 0, 0, 0}, 0, kMillisecond);
    const Record& two = gpus.kernel({0, 0, 1, 0}, 0, kMillisecond / 2);
    gpus.advance(10 * kMillisecond);
    EXPECT_EQ(two.completed, kMillisecond);          // half the GPU each
    EXPECT_EQ(one.completed, kMillisecond * 3 / 2);  // then all of it
    EXPECT_EQ(gpus.served(0, 0), kMillisecond * 3 / 2);
}

TEST(Timeline, AMarkHappensOnlyWhileItsContextHasTheGpu) {
    ModelGpus gpus(1);
    gpus.add_client(0, 0, 1);
    gpus.add_client(0, 1, 1);
    gpus.kernel({0, 0, 0, 0}, 0, 10 * kMillisecond);
    const Record& mark = gpus.push({0, 1, 0, 0}, RecordKind::mark, 100);
    gpus.advance(20 * kMillisecond);
    EXPECT_EQ(mark.completed, kSlice + kSwitch);
}

TEST(Timeline, ATransferNeedsNoTurn) {
    ModelGpus gpus(1);
    gpus.add_client(0, 0, 1);
    gpus.add_client(0, 1, 1);
    gpus.kernel({0, 0, 0, 0}, 0, 10 * kMillisecond);
    const Record& copy = gpus.push({0, 1, 0, 0}, RecordKind::transfer, 100);
    gpus.advance(20 * kMillisecond);
    EXPECT_EQ(copy.completed, 100);
}

TEST(Timeline, AWaitHoldsItsQueueUntilTheOtherHasPassed) {
    ModelGpus gpus(2);
    gpus.add_client(0, 0, 1);
    gpus.add_client(1, 0, 1);
    const Record& awaited = gpus.kernel({0, 0, 0, 0}, 0, 3 * kMillisecond);
    Record& wait = gpus.push({1, 0, 0, 0}, RecordKind::wait, 0);
    wait.wait_gpu = 0;
    wait.wait_client = 0;
    wait.wait_queue = 0;
    wait.wait_sequence = 0;
    wait.wait_serial = gpus.state->gpus[0].clients[0].serial;
    const Record& after = gpus.kernel({1, 0, 0, 0}, 0, kMillisecond);
    gpus.advance(10 * kMillisecond);
    EXPECT_EQ(awaited.completed, 3 * kMillisecond);
    EXPECT_EQ(after.started, 3 * kMillisecond);
}

TEST(Timeline, AHostFunctionHoldsItsQueueUntilItHasReturned) {
    ModelGpus gpus(1);
    gpus.add_client(0, 0, 1);
    Record& function = gpus.push({0, 0, 0, 0}, RecordKind::host, 0);
    const Record& after = gpus.kernel({0, 0, 0, 0}, 0, kMicrosecond);
    gpus.advance(kMillisecond);
    EXPECT_EQ(gpus.state->gpus[0].clients[0].queues[0].head, 0U);
    function.released = 5 * kMillisecond;
    gpus.advance(10 * kMillisecond);
    EXPECT_EQ(function.completed, 5 * kMillisecond);
    EXPECT_EQ(after.started, 5 * kMillisecond);
}

TEST(Timeline, ARendezvousSpinsUntilAllItsGpusAreThere) {
    ModelGpus gpus(2);
    gpus.add_client(0, 0, 1);
    gpus.add_client(1, 0, 1);
    Record& first = gpus.push({0, 0, 0, 0}, RecordKind::rendezvous, 0);
    first.gpus = 2;
    Record& second = gpus.push({1, 0, 0, 0}, RecordKind::rendezvous, 7 * kMillisecond);
    second.gpus = 2;
    gpus.advance(20 * kMillisecond);
    EXPECT_EQ(first.completed, 7 * kMillisecond);
    EXPECT_EQ(second.completed, 7 * kMillisecond);
    EXPECT_EQ(gpus.served(0, 0), 7 * kMillisecond);
    EXPECT_EQ(gpus.served(1, 0), 0);
}

TEST(Timeline, RendezvousOfTwoProcessesGetThroughEachOther) {
    ModelGpus gpus(2);
    for (std::uint32_t process = 0; process < 2; ++process) {
        gpus.add_client(0, process, 1);
        gpus.add_client(1, process, 1);
    }
    // On GPU 1 the other process comes first.
    gpus.push({0, 0, 0, 0}, RecordKind::rendezvous, 0).gpus = 2;
    gpus.push({0, 1, 0, 0}, RecordKind::rendezvous, 1).gpus = 2;
    gpus.push({1, 1, 0, 0}, RecordKind::rendezvous, 0).gpus = 2;
    gpus.push({1, 0, 0, 0}, RecordKind::rendezvous, 1).gpus = 2;
    gpus.advance(100 * kMillisecond);
    for (std::uint32_t gpu = 0; gpu < 2; ++gpu) {
        for (std::uint32_t client = 0; client < 2; ++client) {
            EXPECT_EQ(gpus.state->gpus[gpu].clients[client].queues[0].head, 1U);
        }
    }
}

TEST(Timeline, ProcessesOfAGroupHaveTheirRendezvousTogether) {
    ModelGpus gpus(2);
    gpus.add_client(0, 0, 1);
    gpus.add_client(1, 1, 1);
    gpus.add_client(1, 2, 1);
    const auto meet = [&](const Position& place, std::uint64_t group, Nanoseconds at) -> Record& {
        Record& record = gpus.push(place, RecordKind::rendezvous, at);
        record.gpus = 2;
        record.value = group;
        return record;
    };
    const Record& first = meet({0, 0, 0, 0}, 7, 0);
    meet({1, 1, 0, 0}, 8, 0);
    const Record& second = meet({1, 0, 0, 0}, 7, 5 * kMillisecond);
    gpus.advance(20 * kMillisecond);
    EXPECT_EQ(first.completed, second.completed);
    EXPECT_GE(second.completed, 5 * kMillisecond);
    EXPECT_EQ(gpus.state->gpus[1].clients[1].queues[0].head, 0U) << "of another group";
}

// This was found as a rank that spun forever: the other one had met it, and ended, before this one had the
// GPU again.
TEST(Timeline, OneOfAGroupThatHasMetAndGoneHasMet) {
    ModelGpus gpus(2);
    gpus.add_client(0, 0, 1);
    gpus.add_client(1, 1, 1);
    for (const std::uint32_t gpu : {0U, 1U}) {
        Record& record = gpus.push({gpu, 0, 0, 0}, RecordKind::rendezvous, gpu * kMillisecond);
        record.gpus = 2;
        record.value = 7;
        if (gpu == 0) gpus.advance(kMillisecond / 2);
        if (gpu == 0) gpus.state->gpus[0].clients[0].alive = 0;
    }
    gpus.advance(10 * kMillisecond);
    EXPECT_EQ(gpus.state->gpus[1].clients[0].queues[0].head, 1U);
}

TEST(Timeline, APredictionTellsWhatThenHappensAndChangesNothing) {
    ModelGpus gpus(1);
    gpus.add_client(0, 0, 1);
    gpus.add_client(0, 1, 1);
    for (int i = 0; i < 20; ++i) gpus.kernel({0, 0, 0, 0}, 0, 700 * kMicrosecond);
    for (int i = 0; i < 20; ++i) gpus.kernel({0, 1, 0, 0}, 0, 300 * kMicrosecond);
    gpus.advance(kMillisecond);
    TimelineState future{};
    copy_used(future, *gpus.state);
    const Position last{0, 1, 0, 19};
    const auto due = Timeline(future, gpus.rings(), Timeline::Stamps::leave).advance_until(last, kNever);
    ASSERT_TRUE(due);
    EXPECT_EQ(gpus.rings().at(0, 1, 0).at(19).completed, 0);
    gpus.advance(100 * kMillisecond);
    EXPECT_EQ(gpus.rings().at(0, 1, 0).at(19).completed, *due);
}

TEST(BusyMeter, TellsTheShareOfTheLastSecond) {
    BusyMeter meter{};
    const Nanoseconds second = 1'000'000'000;
    for (Nanoseconds at = 10 * second; at < 12 * second; at += 10 * kMillisecond) {
        meter.add(at, at + 4 * kMillisecond);
    }
    EXPECT_EQ(meter.total(), 800 * kMillisecond);
    EXPECT_NEAR(static_cast<double>(meter.last_second(12 * second)), 400.0 * kMillisecond,
                8.0 * kMillisecond);
    EXPECT_EQ(meter.last_second(14 * second), 0);
}

}  // namespace
}  // namespace simgpu::test
