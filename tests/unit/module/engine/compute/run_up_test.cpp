// What a launch call takes is not charged, if the kernel begins at its end on an idle GPU; and nobody gets
// GPU time for nothing by that.
#include "module/engine/compute/run_up.hpp"

#include <gtest/gtest.h>

#include <random>

#include "tests/unit/module/engine/support/fake_front.hpp"

namespace cgpu::module::test {
namespace {

/// As an H100 and its driver: docs/gpu-results.md.
class RunningUp : public ::testing::Test {
  protected:
    EngineUnderTest engine;
    Pages pages;
    FakeFront front{engine};

    void SetUp() override {
        engine.table.bind(engine.engine, &pages.orders, &pages.reports);
        front.event_cost = 1'273;
        front.launch_call = 3'810;
    }
    /// One thread that launches kernels of this length and waits after so many (0: never).
    Program& add(std::int64_t ns, std::uint64_t waits_each, std::int64_t pause = 0) {
        Program program;
        program.stream = 100 + front.programs.size();
        program.next = [ns] { return Kernel{1, ns}; };
        program.pause = pause;
        program.waits_each = waits_each;
        front.programs.push_back(program);
        return front.programs.back();
    }
    double charged() {
        front.run(front.now() + 2 * kSecond);
        front.drain();
        return test::charged(pages, front);
    }
};

struct RunUpCase {
    const char* name;
    std::int64_t ns;
    std::uint64_t waits_each;
    std::int64_t pause;
    double least;
    double most;

    friend void PrintTo(const RunUpCase& c, std::ostream* out) { *out << c.name; }
};

class RunningUpTo : public RunningUp, public ::testing::WithParamInterface<RunUpCase> {};

TEST_P(RunningUpTo, KernelsOnAnIdleGpuIsNotCharged) {
    const RunUpCase& c = GetParam();
    add(c.ns, c.waits_each, c.pause);
    const double part = charged();
    RecordProperty("charged_percent", std::to_string(100 * part));
    EXPECT_GE(part, c.least);
    EXPECT_LE(part, c.most);
}

const RunUpCase kRunUps[] = {
    {"waited_5us", 5 * kMicro, 1, 0, 0.97, 1.05},
    {"waited_10us", 10 * kMicro, 1, 0, 0.97, 1.05},
    {"waited_20us", 20 * kMicro, 1, 0, 0.98, 1.05},
    {"waited_100us", 100 * kMicro, 1, 0, 0.99, 1.02},
    {"waited_1ms", kMilli, 1, 0, 0.99, 1.01},
    {"two_of_20us_and_a_wait", 20 * kMicro, 2, 0, 0.98, 1.05},
    {"waited_20us_after_a_pause", 20 * kMicro, 1, 60 * kMicro, 0.98, 1.05},
    {"one_of_20us_in_100us", 20 * kMicro, 0, 93 * kMicro, 0.98, 1.05},
    {"one_of_5us_in_20us", 5 * kMicro, 0, 13 * kMicro, 0.97, 1.05},
    {"back_to_back_20us", 20 * kMicro, 0, 0, 0.99, 1.01},
    {"back_to_back_1ms", kMilli, 0, 0, 0.99, 1.01},
};

INSTANTIATE_TEST_SUITE_P(Programs, RunningUpTo, ::testing::ValuesIn(kRunUps),
                         [](const auto& each) { return std::string(each.param.name); });

TEST_F(RunningUp, SeveralStreamsAreNotChargedLess) {
    for (int i = 0; i < 3; ++i) add((20 + 7 * i) * kMicro, 1);
    EXPECT_GE(charged(), 0.99);
}

// The thread is interrupted, or delays itself, between the moment when the GPU has the kernel and the one
// when the clock is read: while the kernel runs.
TEST_F(RunningUp, ReturnsThatAreLateNowAndThenGainNothing) {
    front.late_return = [random = std::minstd_rand(3)]() mutable {
        return static_cast<std::int64_t>(random() % 4 == 0 ? 0 : random() % 30) * kMicro;
    };
    add(20 * kMicro, 1);
    // A call of 5 µs counts, where the usual one takes 3.8.
    EXPECT_GE(charged(), 0.94);
}

TEST_F(RunningUp, ReturnsThatAreAlwaysLateGainNoMoreThanTheBound) {
    for (const std::int64_t late : {2, 5, 15, 40, 500}) {
        front.launch_call = kMicro;
        front.late_return = [late] { return late * kMicro; };
        front.programs.clear();
        add(20 * kMicro, 1);
        const std::int64_t used = pages.reports.gpus[0].used_ns;
        const std::int64_t busy = front.gpu.busy_ns();
        std::uint64_t launched = 0;
        front.run(front.now() + kSecond);
        front.drain();
        launched = front.programs[0].launched;
        const std::int64_t lacks = front.gpu.busy_ns() - busy - (pages.reports.gpus[0].used_ns - used);
        const std::int64_t bound = static_cast<std::int64_t>(launched) * (RunUp::kMostNs - front.launch_call);
        EXPECT_LE(lacks, bound + bound / 100) << late;
    }
}

// What the front tells is not believed beyond the bounds.
TEST_F(RunningUp, OfAnyLengthTakesNoMoreThanTheBoundsFromABatch) {
    struct Told {
        std::int64_t run_up_ns;
        std::int64_t took_ns;
        std::int64_t charged_ns;
    };
    for (const Told& told :
         {Told{kSecond, 20'000, 15'000}, Told{kSecond, 6'000, 3'000}, Told{-kSecond, 20'000, 19'999},
          Told{INT64_MAX, 100'000, 95'000}, Told{INT64_MIN, 0, 0}, Told{3'000, 20'000, 17'000}}) {
        EngineUnderTest fresh;
        Pages fresh_pages;
        fresh.table.bind(fresh.engine, &fresh_pages.orders, &fresh_pages.reports);
        const Decision decision = fresh.enter({0, 0, 7, 1, 9, kSecond});
        ASSERT_NE(decision.open, 0U);
        fresh.table.first_launched(fresh.engine, decision.open, told.run_up_ns, kSecond + 5'000);
        fresh.table.first_launched(fresh.engine, decision.open, kSecond,
                                   kSecond + 5'000);  // only the first counts
        fresh.table.closed(fresh.engine, decision.open, kSecond + 6'000);
        std::uint32_t ring = 0;
        fresh.table.reaped(fresh.engine, decision.open, kSecond, kSecond + told.took_ns, kSecond + kMilli,
                           &ring);
        EXPECT_EQ(fresh_pages.reports.gpus[0].used_ns, told.charged_ns) << told.run_up_ns;
        EXPECT_EQ(fresh_pages.reports.gpus[0].in_flight_ns, 0);
    }
}

TEST_F(RunningUp, OfABatchThatIsUnknownChangesNothing) {
    engine.table.first_launched(engine.engine, 12345, 3'000, kSecond);
    engine.table.first_launched(engine.engine, 0, 3'000, kSecond);
    EXPECT_EQ(pages.reports.gpus[0].used_ns, 0);
}

// The GPU was not idle then.
TEST_F(RunningUp, BesideOtherWorkIsChargedAsBefore) {
    pages.orders.gates[0].overlap = static_cast<std::uint32_t>(wire::Overlap::others);
    const Decision decision = engine.enter({0, 0, 7, 1, 9, kSecond});
    engine.table.first_launched(engine.engine, decision.open, 3'000, kSecond + 5'000);
    engine.table.closed(engine.engine, decision.open, kSecond + 6'000);
    std::uint32_t ring = 0;
    engine.table.reaped(engine.engine, decision.open, kSecond, kSecond + 20'000, kSecond + kMilli, &ring);
    EXPECT_EQ(pages.reports.gpus[0].used_ns, 20'000);
}

TEST(RunUp, IsCountedUpToAQuarterMoreThanTheShortestLately) {
    RunUp run_up;
    std::int64_t now = 10 * kSecond;
    EXPECT_EQ(run_up.counted(4'000, now), 4'000);
    EXPECT_EQ(run_up.counted(2'000, now), 2'000);
    EXPECT_EQ(run_up.counted(4'000, now), 2'500);
    EXPECT_EQ(run_up.counted(2'400, now), 2'400);
    now += 1'100 * kMilli;
    EXPECT_EQ(run_up.counted(4'000, now), 2'500) << "the window before counts, too";
    now += 1'100 * kMilli;
    EXPECT_EQ(run_up.counted(4'000, now), 4'000);
    EXPECT_EQ(run_up.counted(kSecond, now), RunUp::kMostNs);
    EXPECT_EQ(run_up.counted(-kSecond, now), 0);
}

}  // namespace
}  // namespace cgpu::module::test
