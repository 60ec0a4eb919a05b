// Bounds of what the engine learns, which ordinary programs don't reach.
#include <gtest/gtest.h>

#include <cstdlib>

#include "module/engine/compute/estimating.hpp"
#include "module/engine/compute/lengths/functions.hpp"
#include "module/engine/compute/window.hpp"
#include "tests/unit/module/engine/support/engine_fixture.hpp"

namespace cgpu::module::test {
namespace {

TEST(Bounds, ARareLongRunDoesNotDelayTheShortOnes) {
    Functions functions(host());
    for (int i = 0; i < 8; ++i) functions.learn(1, 10 * kMicro);
    functions.learn(1, 100 * kMilli);
    EXPECT_GT(functions.estimate(1), 10 * kMicro);
    EXPECT_LE(functions.estimate(1), 20 * kMicro)
        << "it counts as four times the estimate, and a quarter of that";
}

TEST(Bounds, WorkBesideOtherStreamsCostsUpToSixteenTimesAsMuchOrAsLittle) {
    OverlapScale slow;
    OverlapScale fast;
    for (std::int64_t i = 0; i < 100; ++i) {
        const std::int64_t began = i * 10 * kMilli;
        slow.learn({100 * kMilli, 2 * kMilli, began, began + kMilli});
        fast.learn({0, 2 * kMilli, began, began + kMilli});
    }
    EXPECT_EQ(slow.scale(), 16);
    EXPECT_EQ(fast.scale(), 1.0 / 16);
}

// The end of a long kernel is seen at most 5 ms late, and none is asked for more often than every 50 µs.
TEST(Bounds, OverdueWorkIsLookedForOftenEnoughAndNotTooOften) {
    const std::int64_t expected = 100 * kSecond;
    for (const std::int64_t late : {kMicro, kMilli, 10 * kMilli, kSecond, 3'600 * kSecond}) {
        const std::int64_t wait = look_again_at(expected, expected + late) - (expected + late);
        EXPECT_GE(wait, 50 * kMicro) << late;
        EXPECT_LE(wait, 5 * kMilli) << late;
    }
    EXPECT_EQ(look_again_at(expected, expected - kMilli), expected - kMilli + kMilli / 4);
    EXPECT_EQ(look_again_at(expected, expected - 400 * kMicro), expected - 200 * kMicro);
    EXPECT_EQ(look_again_at(expected, expected - 100 * kMicro), expected);
}

// A process that was stopped in a wait seems to have had a kernel of that length.
TEST(Bounds, AProgramThatWasStoppedIsMeasuredForTenSecondsAtMost) {
    Estimating estimating;
    std::int64_t now = 100 * kSecond;
    for (int i = 0; i < 3; ++i) {
        estimating.batch_opens();
        estimating.wait_begins(true);
    }
    const auto wants = [&] {
        int count = 0;
        for (int i = 0; i < 64; ++i) count += estimating.wants(10 * kMicro, now) ? 1 : 0;
        return count;
    };
    EXPECT_GT(wants(), 32);
    EXPECT_EQ(estimating.used({10 * kMicro, 3'600 * kSecond, 3'600 * kSecond, false}, now), 10 * kMicro);
    now += 9 * kSecond;
    EXPECT_EQ(wants(), 0);
    now += 2 * kSecond;
    EXPECT_GT(wants(), 32);
}

}  // namespace
}  // namespace cgpu::module::test
