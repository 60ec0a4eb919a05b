#include <gtest/gtest.h>

#include <random>

#include "tests/unit/module/engine/support/fake_front.hpp"

namespace cgpu::module::test {
namespace {

std::function<Kernel()> always(std::uint64_t function, std::int64_t ns) {
    return [=] { return Kernel{function, ns}; };
}

/// As many functions as a program of neural networks has, of 5 to 40 µs, in any order.
std::function<Kernel()> many(unsigned seed) {
    return [random = std::minstd_rand(seed)]() mutable {
        const std::uint64_t function = 1 + random() % 64;
        return Kernel{function, static_cast<std::int64_t>(5 + function % 36) * kMicro};
    };
}

/// 10 µs, 1 ms and 20 ms kernels in any order, as often as fills the same time with each.
std::function<Kernel()> mixed(unsigned seed) {
    return [random = std::minstd_rand(seed)]() mutable {
        const auto draw = random() % 2100;
        if (draw < 1) return Kernel{3, 20 * kMilli};
        if (draw < 21) return Kernel{2, 1 * kMilli};
        return Kernel{1, 10 * kMicro};
    };
}

struct Case {
    const char* name;
    std::function<std::function<Kernel()>(unsigned stream)> next;
    std::int64_t longest;
    std::int64_t pause = 0;

    friend void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }
};

class Metering : public ::testing::TestWithParam<std::tuple<Case, unsigned>> {
  protected:
    EngineUnderTest engine;
    Pages pages;
    FakeFront front{engine};

    void start() {
        engine.table.bind(engine.engine, &pages.orders, &pages.reports);
        const auto& [c, streams] = GetParam();
        for (unsigned i = 0; i < streams; ++i) {
            Program program;
            program.stream = 100 + i;
            program.next = c.next(i);
            program.pause = c.pause;
            front.programs.push_back(program);
        }
    }
};

TEST_P(Metering, UsedIsWhatTheGpuDid) {
    start();
    front.run(kSecond);
    front.drain();
    const auto& report = pages.reports.gpus[0];
    const double truth = static_cast<double>(front.gpu.busy_ns());
    RecordProperty("used_error_permille",
                   std::to_string(1000 * (static_cast<double>(report.used_ns) / truth - 1)));
    EXPECT_NEAR(static_cast<double>(report.used_ns), truth, truth * 0.01);
    EXPECT_EQ(report.in_flight_ns, 0);
    EXPECT_EQ(report.wants, std::count_if(front.programs.begin(), front.programs.end(),
                                          [](const Program& each) { return each.waiting; }));
    std::uint64_t launched = 0;
    for (const Program& each : front.programs) launched += each.launched;
    EXPECT_EQ(report.launches, launched);
}

TEST_P(Metering, FloodedGpuStaysBusyWithABoundedQueue) {
    start();
    const auto& [c, streams] = GetParam();
    if (c.pause > 0) return;
    front.run(kSecond);
    const double elapsed = static_cast<double>(front.now());
    EXPECT_GT(static_cast<double>(front.gpu.busy_ns()) / elapsed, 0.97);
    // The window, one kernel beyond it, and the first kernels, whose duration was unknown.
    EXPECT_LE(front.most_queued, 2 * kMilli + 2 * c.longest + kMilli);
    RecordProperty("batches_per_s", std::to_string(static_cast<double>(front.batches) / elapsed * 1e9));
    RecordProperty("asked_per_launch", std::to_string(static_cast<double>(front.asked) /
                                                      static_cast<double>(pages.reports.gpus[0].launches)));
}

const Case kCases[] = {
    {"short", [](unsigned) { return always(1, 10 * kMicro); }, 10 * kMicro},
    {"middle", [](unsigned) { return always(2, 1 * kMilli); }, 1 * kMilli},
    {"long", [](unsigned) { return always(3, 20 * kMilli); }, 20 * kMilli},
    {"many", [](unsigned i) { return many(i + 1); }, 40 * kMicro},
    {"mixed", [](unsigned i) { return mixed(i + 1); }, 20 * kMilli},
    {"each_its_own",
     [](unsigned i) {
         return always(1 + i, i == 0 ? 10 * kMicro : i == 1 ? kMilli : 20 * kMilli);
     },
     20 * kMilli},
    {"slow_feeder", [](unsigned) { return always(1, 10 * kMicro); }, 10 * kMicro, 90 * kMicro},
    {"rare", [](unsigned) { return always(1, 100 * kMicro); }, 100 * kMicro, 5 * kMilli},
};

INSTANTIATE_TEST_SUITE_P(Kernels, Metering,
                         ::testing::Combine(::testing::ValuesIn(kCases), ::testing::Values(1u, 3u)),
                         [](const auto& each) {
                             return std::string(std::get<Case>(each.param).name) + "_" +
                                    std::to_string(std::get<unsigned>(each.param)) + "_streams";
                         });

/// A program that launches more slowly than the GPU works.
struct SlowCase {
    const char* name;
    std::function<std::function<Kernel()>()> next;
    std::int64_t pause;
    double off;  ///< the part of what it used by which the charge may be wrong
    unsigned streams = 1;
    std::int64_t event_cost = 0;

    friend void PrintTo(const SlowCase& c, std::ostream* out) { *out << c.name; }
};

class MeteringOfSlowLaunches : public ::testing::TestWithParam<SlowCase> {};

TEST_P(MeteringOfSlowLaunches, ThePaceIsNotTakenForTheLengthOfTheKernels) {
    EngineUnderTest engine;
    Pages pages;
    FakeFront front{engine};
    front.event_cost = GetParam().event_cost;
    engine.table.bind(engine.engine, &pages.orders, &pages.reports);
    for (unsigned i = 0; i < GetParam().streams; ++i) {
        Program program;
        program.stream = 100 + i;
        program.next = GetParam().next();
        program.pause = GetParam().pause;
        front.programs.push_back(program);
    }
    front.run(6 * kSecond);
    front.drain();
    const double busy = static_cast<double>(front.gpu.busy_ns());
    EXPECT_LT(busy, 0.9 * static_cast<double>(front.now())) << "the GPU waits for launches";
    EXPECT_NEAR(charged(pages, front), 1, GetParam().off);
}

/// Kernels of any of `functions`, as long as `length` says by the number of the launch.
auto any_of(unsigned functions, std::int64_t (*length)(std::uint64_t number, std::uint64_t function)) {
    return [functions, length] {
        return [functions, length, random = std::minstd_rand(1), number = std::uint64_t{0}]() mutable {
            const std::uint64_t function = 1 + random() % functions;
            return Kernel{function, length(number++, function)};
        };
    };
}

std::int64_t always_2us(std::uint64_t, std::uint64_t) { return 2 * kMicro; }
std::int64_t of_1_to_4us(std::uint64_t, std::uint64_t function) {
    return static_cast<std::int64_t>(1 + function % 4) * kMicro;
}
std::int64_t of_10_then_50us(std::uint64_t number, std::uint64_t) {
    return (number < 5'000 ? 10 : 50) * kMicro;
}
std::int64_t of_60_then_20us(std::uint64_t number, std::uint64_t) {
    return (number < 5'000 ? 60 : 20) * kMicro;
}
std::int64_t of_1_then_5us(std::uint64_t number, std::uint64_t) {
    return (number < 200'000 ? 1 : 5) * kMicro;
}

const SlowCase kSlow[] = {
    {"two_of_2us", any_of(2, always_2us), 0, 0.01},
    {"many_of_1_to_4us", any_of(64, of_1_to_4us), 3 * kMicro, 0.01},
    {"many_in_two_streams", any_of(64, of_1_to_4us), 5 * kMicro, 0.03, 2},
    {"many_become_longer", any_of(30, of_1_then_5us), 3 * kMicro, 0.02},
    {"one_becomes_longer", any_of(1, of_10_then_50us), 97 * kMicro, 0.01},
    {"one_becomes_longer_in_two_streams", any_of(1, of_10_then_50us), 137 * kMicro, 0.02, 2},
    {"one_becomes_longer_and_events_take_time", any_of(1, of_10_then_50us), 97 * kMicro, 0.02, 1, 2 * kMicro},
    {"one_becomes_shorter", any_of(1, of_60_then_20us), 97 * kMicro, 0.02},
    {"many_become_shorter", any_of(64, of_60_then_20us), 97 * kMicro, 0.03},
};

INSTANTIATE_TEST_SUITE_P(Kernels, MeteringOfSlowLaunches, ::testing::ValuesIn(kSlow),
                         [](const auto& each) { return std::string(each.param.name); });

/// Each question takes some 300 ns of the thread that launches, and holds up the others.
TEST(MeteringByTime, FewLaunchesAskTheEngine) {
    const auto asked_per_launch = [](const std::function<Kernel()>& next) {
        EngineUnderTest engine;
        Pages pages;
        FakeFront front{engine};
        engine.table.bind(engine.engine, &pages.orders, &pages.reports);
        Program program;
        program.stream = 100;
        program.next = next;
        front.programs.push_back(program);
        front.run(kSecond);
        return static_cast<double>(front.asked) / static_cast<double>(front.programs[0].launched);
    };
    EXPECT_LT(asked_per_launch(always(1, 2 * kMicro)), 0.02);
    const auto any_of_64 = [random = std::minstd_rand(1)]() mutable {
        return Kernel{1 + random() % 64, 2 * kMicro};
    };
    EXPECT_LT(asked_per_launch(any_of_64), 0.045);
}

}  // namespace
}  // namespace cgpu::module::test
