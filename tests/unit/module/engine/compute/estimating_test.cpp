// Programs that wait for each of their short kernels: few of their batches are measured, and what they are
// charged is still what the GPU did.
#include <gtest/gtest.h>

#include <random>

#include "tests/unit/module/engine/support/fake_front.hpp"

namespace cgpu::module::test {
namespace {

class Waiting : public ::testing::Test {
  protected:
    EngineUnderTest engine;
    Pages pages;
    FakeFront front{engine};

    void SetUp() override { engine.table.bind(engine.engine, &pages.orders, &pages.reports); }

    /// One thread that waits after each launch, with `pause` between the launch and the wait.
    void add(std::function<Kernel()> next, std::int64_t pause = 0) {
        Program program;
        program.stream = 100 + front.programs.size();
        program.next = std::move(next);
        program.pause = pause;
        program.waits_each = 1;
        front.programs.push_back(program);
    }
    /// Runs for so long; returns the time charged for what the GPU did: 1 is exact.
    double charged(std::int64_t seconds = 1) {
        front.run(front.now() + seconds * kSecond);
        front.drain();
        return test::charged(pages, front);
    }
    double events_per_launch() {
        std::uint64_t launched = 0;
        for (const Program& each : front.programs) launched += each.launched;
        return static_cast<double>(front.recorded) / static_cast<double>(launched);
    }
};

std::function<Kernel()> always(std::int64_t ns) {
    return [=] { return Kernel{1, ns}; };
}

TEST_F(Waiting, FewBatchesAreMeasured) {
    add(always(5 * kMicro));
    EXPECT_NEAR(charged(), 1, 0.02);
    EXPECT_LT(events_per_launch(), 0.2);
}

TEST_F(Waiting, EachFunctionHasItsOwnLength) {
    add([turn = 0]() mutable {
        const auto function = static_cast<std::uint64_t>(1 + turn++ % 4);
        return Kernel{function, static_cast<std::int64_t>(function) * 20 * kMicro};
    });
    EXPECT_NEAR(charged(), 1, 0.02);
    EXPECT_LT(events_per_launch(), 0.25);
}

TEST_F(Waiting, SeveralKernelsBeforeEachWait) {
    add(always(5 * kMicro));
    front.programs[0].waits_each = 7;
    EXPECT_NEAR(charged(), 1, 0.02);
    EXPECT_LT(events_per_launch(), 0.2 / 7);
}

TEST_F(Waiting, LengthsThatVaryAreMeasured) {
    add([turn = 0]() mutable { return Kernel{1, (turn++ % 2 == 0 ? 10 : 60) * kMicro}; });
    EXPECT_NEAR(charged(), 1, 0.02);
    EXPECT_GT(events_per_launch(), 1.9);
}

// What a program does in turns must not be taken for what it always does.
TEST_F(Waiting, LengthsThatVaryALittleAreChargedByTheirMean) {
    for (const int period : {2, 16, 512}) {
        front.programs.clear();
        const auto before = pages.reports.gpus[0].used_ns.load();
        const auto busy_before = front.gpu.busy_ns();
        add([turn = 0, period]() mutable {
            return Kernel{1, (turn++ % period < period / 2 ? 20 : 24) * kMicro};
        });
        front.run(front.now() + kSecond);
        const auto used = static_cast<double>(pages.reports.gpus[0].used_ns - before);
        EXPECT_NEAR(used / static_cast<double>(front.gpu.busy_ns() - busy_before), 1, 0.05) << period;
    }
}

/// Kernels of 10 µs, and a few that are far longer: so few that they are half of the time.
class RareLongKernels : public Waiting, public ::testing::WithParamInterface<std::int64_t> {};

TEST_P(RareLongKernels, AreNotFree) {
    add([random = std::minstd_rand(7), length = GetParam()]() mutable {
        const bool is_long = random() % static_cast<std::uint64_t>(length / (10 * kMicro)) == 0;
        return Kernel{1, is_long ? length : 10 * kMicro};
    });
    // The first long one isn't expected.
    EXPECT_NEAR(charged(5), 1, 0.02);
}

INSTANTIATE_TEST_SUITE_P(Lengths, RareLongKernels,
                         ::testing::Values(300 * kMicro, 2 * kMilli, 20 * kMilli, 50 * kMilli));

TEST_F(Waiting, TimeBetweenTheLaunchAndTheWaitIsNotCharged) {
    add(always(10 * kMicro), 300 * kMicro);
    EXPECT_NEAR(charged(), 1, 0.05);
}

TEST_F(Waiting, LongKernelsAreMeasured) {
    add(always(150 * kMicro));
    EXPECT_NEAR(charged(), 1, 0.01);
    EXPECT_GT(events_per_launch(), 1.9);
}

TEST_F(Waiting, ThreadsBesideEachOtherAreMeasured) {
    add(always(10 * kMicro));
    add(always(17 * kMicro));
    EXPECT_NEAR(charged(), 1, 0.02);
}

TEST_F(Waiting, CompetitionAndALimitChangeNothing) {
    pages.set(wire::GateState::open, 10 * kSecond);
    pages.orders.gates[0].contended = 1;
    add(always(5 * kMicro));
    EXPECT_NEAR(charged(), 1, 0.02);
    EXPECT_LT(events_per_launch(), 0.2);
}

TEST_F(Waiting, WorkThatOverlapsWithAnotherInstancesIsMeasured) {
    pages.orders.gates[0].overlap = static_cast<std::uint32_t>(wire::Overlap::others);
    add(always(5 * kMicro));
    EXPECT_NEAR(charged(), 1, 0.01);
    EXPECT_GT(events_per_launch(), 1.9);
}

// The start of a batch is left out only if a wait is expected, which then may not come.
TEST_F(Waiting, AProgramThatStopsWaitingIsMeasuredAgain) {
    add(always(5 * kMicro));
    front.run(front.now() + kSecond / 10);
    front.programs[0].waits_each = 0;
    const auto used_before = pages.reports.gpus[0].used_ns.load();
    const auto busy_before = front.gpu.busy_ns();
    const auto batches_before = front.batches;
    const auto recorded_before = front.recorded;
    front.run(front.now() + kSecond);
    front.drain();
    EXPECT_NEAR(static_cast<double>(pages.reports.gpus[0].used_ns - used_before) /
                    static_cast<double>(front.gpu.busy_ns() - busy_before),
                1, 0.01);
    EXPECT_GE(front.recorded - recorded_before + 1, 2 * (front.batches - batches_before));
}

}  // namespace
}  // namespace cgpu::module::test
