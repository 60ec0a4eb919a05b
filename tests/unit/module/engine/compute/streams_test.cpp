// Programs whose streams differ: the batches of one end while those of another are in flight, or contain idle
// time while another one works. What is charged is still what the GPU did.
#include <gtest/gtest.h>

#include <random>

#include "tests/unit/module/engine/support/fake_front.hpp"

namespace cgpu::module::test {
namespace {

/// One thread: kernels of `length`, each followed by a pause, and a wait after so many.
struct Thread {
    std::int64_t length;
    std::int64_t pause;
    std::uint64_t waits_each;
    std::uint64_t functions = 1;
    double factor = 1;  ///< by which all lengths change after a second
};

struct StreamsCase {
    const char* name;
    std::vector<Thread> threads;
    double off;  ///< the part of what it used by which the charge may be wrong

    friend void PrintTo(const StreamsCase& c, std::ostream* out) { *out << c.name; }
};

class MeteringOfStreams : public ::testing::TestWithParam<StreamsCase> {};

TEST_P(MeteringOfStreams, UsedIsWhatTheGpuDid) {
    EngineUnderTest engine;
    Pages pages;
    FakeFront front{engine};
    engine.table.bind(engine.engine, &pages.orders, &pages.reports);
    for (const Thread& thread : GetParam().threads) {
        Program program;
        program.stream = 100 + front.programs.size();
        program.pause = thread.pause;
        program.waits_each = thread.waits_each;
        program.next = [&front, thread, first = 1000 * program.stream,
                        random = std::minstd_rand(1)]() mutable {
            const double factor = front.now() < kSecond ? 1 : thread.factor;
            return Kernel{first + random() % thread.functions,
                          static_cast<std::int64_t>(factor * static_cast<double>(thread.length))};
        };
        front.programs.push_back(program);
    }
    front.run(4 * kSecond);
    front.drain();
    EXPECT_NEAR(charged(pages, front), 1, GetParam().off);
}

const StreamsCase kStreams[] = {
    // The GPU is busy all the time. The short batches end first, and get the time that both have shared.
    {"a_long_one_beside_one_that_waits", {{300 * kMicro, 360 * kMicro, 1}, {5 * kMicro, 0, 1}}, 0.03},
    {"many_long_ones_beside_one_that_waits",
     {{295 * kMicro, 470 * kMicro, 27, 16}, {12 * kMicro, 14 * kMicro, 1}},
     0.05},
    // The GPU is idle most of the time, and a batch of the second is charged first for the kernel of the
    // first.
    {"idle_time_in_both", {{413 * kMicro, 4 * kMilli, 1}, {4 * kMicro, 358 * kMicro, 1}}, 0.05},
    // Estimates become far too long, and are never right again for kernels that always run beside others.
    {"become_shorter_beside_each_other",
     {{4 * kMicro, 960 * kMicro, 1, 1, 0.2},
      {64 * kMicro, 3 * kMicro, 18, 20, 0.2},
      {10 * kMicro, 0, 1, 1, 0.2}},
     0.15},
    // The program works between a launch and the wait for it, so no batch shows how long its kernel took.
    {"becomes_longer_and_waits_late", {{32 * kMicro, 960 * kMicro, 1, 16, 8}}, 0.2},
};

INSTANTIATE_TEST_SUITE_P(Programs, MeteringOfStreams, ::testing::ValuesIn(kStreams),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace cgpu::module::test
