#include "module/engine/compute/lengths/sampling.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace cgpu::module::test {
namespace {

using Turn = Sampling::Turn;
using Change = Functions::Change;

class SamplingTest : public ::testing::Test {
  protected:
    Sampling sampling;
    std::int64_t now = 1'000'000'000;
    std::uint64_t launches = 0;
    bool waits = false;

    SamplingTest() {
        sampling.batch_ended(true);
        ask(1);
    }

    /// The next launch of this stream; it begins a batch.
    Turn ask(std::uint64_t stream, bool beside = false, bool idle = true) {
        return sampling.turn({.now_ns = now,
                              .launches = ++launches,
                              .context = 1,
                              .stream = stream,
                              .begins_batch = true,
                              .doubted = false,
                              .any_doubted = false,
                              .in_flight_ns = 0,
                              .beside = beside,
                              .idle = idle,
                              .waits = waits});
    }
    void pass(std::uint64_t count, std::int64_t ns) {
        launches += count;
        now += ns;
    }
    /// Launches of one stream until the next sample; at most 10000.
    std::uint64_t until_sample() {
        sampling.free_gpu();
        const std::uint64_t before = launches;
        while (launches < before + 10'000 && ask(1) != Turn::alone) now += 1'000;
        return launches - before;
    }
};

TEST_F(SamplingTest, SamplesComeAtRandomDistances) {
    std::uint64_t least = 10'000;
    std::uint64_t most = 0;
    for (int i = 0; i < 50; ++i) {
        const std::uint64_t distance = until_sample();
        EXPECT_FALSE(sampling.sampled(Change::none));
        least = std::min(least, distance);
        most = std::max(most, distance);
    }
    EXPECT_GE(least, 512U);
    EXPECT_LE(most, 1024U);
    EXPECT_GT(most - least, 200U);
}

TEST_F(SamplingTest, ProgramsThatWaitAreSampledLessOften) {
    waits = true;
    until_sample();
    EXPECT_FALSE(sampling.sampled(Change::none));
    EXPECT_GE(until_sample(), 2048U);
    EXPECT_FALSE(sampling.sampled(Change::longer));
    EXPECT_LE(until_sample(), 256U) << "one that differed is followed soon";
}

TEST_F(SamplingTest, AFullGpuIsNotSampled) {
    sampling.batch_ended(false);
    EXPECT_EQ(until_sample(), 10'000U);
}

TEST_F(SamplingTest, SlowLaunchesAreSampledByTime) {
    pass(63, 9'000'000);
    EXPECT_EQ(ask(1), Turn::pass);
    now += 11'000'000;
    EXPECT_EQ(ask(1), Turn::alone);
}

TEST_F(SamplingTest, SlowLaunchesAreSampledAtRandomDistances) {
    std::uint64_t least = 10'000;
    std::uint64_t most = 0;
    for (int i = 0; i < 50; ++i) {
        std::uint64_t distance = 0;
        sampling.free_gpu();
        do {
            now += 400'000;
            ++distance;
        } while (ask(1) != Turn::alone);
        EXPECT_FALSE(sampling.sampled(Change::none));
        least = std::min(least, distance);
        most = std::max(most, distance);
    }
    EXPECT_GE(least, 25U);
    EXPECT_LE(most, 50U);
    EXPECT_GT(most - least, 15U) << "a program may repeat a sequence of kernels";
}

TEST_F(SamplingTest, TwoLongerOnesAfterOthersAreAChange) {
    until_sample();
    EXPECT_FALSE(sampling.sampled(Change::longer));
    EXPECT_LE(until_sample(), 256U) << "the next one comes soon";
    EXPECT_TRUE(sampling.sampled(Change::longer));
}

TEST_F(SamplingTest, KernelsThatVaryHaveNotChanged) {
    for (int i = 0; i < 50; ++i) {
        until_sample();
        EXPECT_FALSE(sampling.sampled(i % 2 == 0 ? Change::longer : Change::shorter));
    }
}

TEST_F(SamplingTest, OtherStreamsAreHeldWhileOneIsSampled) {
    pass(1'024, 100'000'000);
    EXPECT_EQ(ask(1, true, false), Turn::wait) << "until the others have ended";
    EXPECT_EQ(ask(2, true, false), Turn::wait);
    EXPECT_EQ(ask(2), Turn::wait) << "the first one is the sample";
    EXPECT_EQ(ask(1), Turn::alone);
    EXPECT_EQ(ask(2, true, false), Turn::wait);
    EXPECT_EQ(ask(1, false, false), Turn::pass) << "behind it, on its stream";
    sampling.free_gpu();
    EXPECT_EQ(ask(2), Turn::pass);
}

TEST_F(SamplingTest, StreamsAreNotHeldForLongAndLessOftenIfInVain) {
    std::int64_t last = 0;
    std::int64_t distance = 0;
    for (int i = 0; i < 5; ++i) {
        pass(1'024, 0);
        const std::int64_t before = now;
        while (ask(1, true, false) != Turn::wait && now < before + 10'000'000'000) now += 1'000'000;
        distance = now - last;
        last = now;
        EXPECT_LE(sampling.ask_again_at(now), now + 1'000'000);
        now += 1'000'000;
        EXPECT_EQ(ask(2, true, false), Turn::pass);
    }
    EXPECT_GT(distance, 100'000'000);
    EXPECT_LT(distance, 2'100'000'000);
}

}  // namespace
}  // namespace cgpu::module::test
