#include "daemon/app/compute/ring_budget.hpp"

#include <gtest/gtest.h>

#include <array>

namespace cgpu::app {
namespace {

using schedule::kMicro;
using schedule::kMilli;
using schedule::kSecond;
using schedule::Nanos;

/// The slicer's wait with one budget: how often a doorbell that is rung `every` so often wakes it within a
/// second, in virtual time. `kept`: rings that were heard at once.
struct Woken {
    int times = 0;
    int rings = 0;
    int kept = 0;
};
Woken within_a_second(RingBudget& budget, Nanos every) {
    Woken woken;
    constexpr Nanos kStart = 77 * kSecond;
    Nanos look = schedule::kForever;
    bool listened = true;
    bool rung = false;
    for (Nanos now = kStart; now < kStart + kSecond; now += 10 * kMicro) {
        const bool rings = now % every == 0;
        woken.rings += rings;
        woken.kept += rings && listened;
        rung = rung || rings;
        if (!(rings && listened) && now < look) continue;
        ++woken.times;
        if (rung) budget.rung(now);
        rung = false;
        listened = budget.listens(now);
        look = listened ? schedule::kForever : budget.look_at(now);
    }
    return woken;
}

TEST(RingBudget, TheUsualRateIsHeardRingByRing) {
    for (const Nanos every : {10 * kMilli, kMilli, 500 * kMicro}) {
        RingBudget budget;
        const auto woken = within_a_second(budget, every);
        EXPECT_EQ(woken.kept, woken.rings) << every;
        EXPECT_EQ(woken.times, woken.rings) << "and nothing else wakes";
    }
}

TEST(RingBudget, WhoRingsWithoutPauseIsLookedAtByTime) {
    RingBudget budget;
    const auto woken = within_a_second(budget, 10 * kMicro);
    constexpr int kAtFirst = RingBudget::kBurst + RingBudget::kPatience;
    EXPECT_LE(woken.times, kSecond / RingBudget::kLookSeldomEvery + kAtFirst + 1);
    EXPECT_GE(woken.times, kSecond / RingBudget::kLookSeldomEvery) << "but it is looked at";
}

TEST(RingBudget, NobodyGetsMoreThanItsRateByRingingCleverly) {
    for (Nanos every = 20 * kMicro; every < 500 * kMicro; every += 10 * kMicro) {
        RingBudget budget;
        EXPECT_LE(within_a_second(budget, every).times, kSecond / RingBudget::kEvery + RingBudget::kBurst)
            << every;
    }
}

// It pauses until it is waited on again: for example a process that gets the CPU in turns.
TEST(RingBudget, WhoIsTooLoudAgainAndAgainIsWokenByLess) {
    for (const int times : {1, RingBudget::kWakeOnly}) {
        RingBudget budget;
        int woken = 0;
        Nanos look = schedule::kForever;
        for (Nanos now = 2 * kSecond; now < 4 * kSecond; now += 10 * kMicro) {
            const bool listens = budget.listens(now);
            if (!listens && now < look) continue;
            woken += now >= 3 * kSecond;
            if (listens) budget.rung(now, 1, times);
            look = budget.look_at(now);
        }
        EXPECT_LE(woken, kSecond / RingBudget::kEvery / 2) << times;
    }
}

TEST(RingBudget, ASecondOfQuietMakesGood) {
    RingBudget budget;
    for (int i = 0; i < 100; ++i) budget.rung(kSecond, 1, RingBudget::kBurst);
    EXPECT_FALSE(budget.listens(kSecond));
    const auto later = kSecond + RingBudget::kForget + RingBudget::kBurst * RingBudget::kEvery + 1;
    EXPECT_TRUE(budget.listens(later));
    int heard = 0;
    for (; budget.listens(later) && heard < 10000; ++heard) budget.rung(later);
    EXPECT_EQ(heard, RingBudget::kBurst);
    EXPECT_LE(budget.look_at(later), later + RingBudget::kLookEvery);
}

TEST(RingBudget, ABurstIsHeardAndThenNoMore) {
    RingBudget budget;
    Nanos now = kSecond;
    for (int i = 1; i < RingBudget::kBurst; ++i) {
        budget.rung(now);
        EXPECT_TRUE(budget.listens(now)) << i;
    }
    budget.rung(now);
    EXPECT_FALSE(budget.listens(now));
    now += RingBudget::kBurst / 2 * RingBudget::kEvery - 1;
    EXPECT_FALSE(budget.listens(now));
    EXPECT_TRUE(budget.listens(now + 1));
}

TEST(RingBudget, WhoRingsOnIsNotListenedToAgain) {
    RingBudget budget;
    budget.rung(kSecond, 1, RingBudget::kBurst);
    Nanos now = kSecond;
    for (int i = 0; i < 1000; ++i) {
        now += RingBudget::kLookEvery;
        budget.rung(now);
        ASSERT_FALSE(budget.listens(now));
    }
    EXPECT_TRUE(budget.listens(now + RingBudget::kBurst * RingBudget::kEvery)) << "until it is quiet";
}

TEST(RingBudget, EachGpuHasItsOwn) {
    RingBudget budget;
    int heard = 0;
    for (; budget.listens(kSecond) && heard < 10000; ++heard) budget.rung(kSecond, 8);
    EXPECT_EQ(heard, 8 * RingBudget::kBurst);
}

TEST(RingBudget, AllAreLookedAtAtTheSameMoments) {
    RingBudget one;
    RingBudget loud;
    for (int i = 0; i < RingBudget::kPatience; ++i) loud.rung(kSecond, 1, RingBudget::kBurst);
    loud.rung(kSecond);
    for (Nanos now = kSecond; now < kSecond + 20 * kMilli; now += 70 * kMicro) {
        EXPECT_GT(one.look_at(now), now);
        EXPECT_LE(one.look_at(now), now + RingBudget::kLookEvery);
        EXPECT_LE(loud.look_at(now), now + RingBudget::kLookSeldomEvery);
        EXPECT_EQ(one.look_at(loud.look_at(now) - 1), loud.look_at(now));
    }
}

}  // namespace
}  // namespace cgpu::app
