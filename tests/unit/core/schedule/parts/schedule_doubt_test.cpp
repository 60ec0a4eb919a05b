// Which reports can't be true, and whose are doubted.
#include <gtest/gtest.h>

#include <limits>

#include "core/schedule/parts/doubt.hpp"
#include "core/schedule/parts/page_check.hpp"

namespace cgpu::schedule {
namespace {

using Claim = PageCheck::Claim;

TEST(PageCheck, TheFirstReportMaySayAnything) {
    PageCheck check;
    EXPECT_TRUE(check.plausible({.used = 3'600 * kSecond, .updated = kSecond}, kSecond));
    EXPECT_TRUE(
        check.plausible({.used = 3'600 * kSecond + kMilli, .updated = kSecond + 1}, kSecond + kMilli));
}

// A kernel of 50 ms beside nineteen others takes a second, and may have begun before the page was read first.
TEST(PageCheck, WorkThatItFindsMayHaveBegunLongBefore) {
    PageCheck check;
    EXPECT_TRUE(check.plausible({kSecond, 50 * kMilli, false, 10 * kSecond}, 10 * kSecond));
    EXPECT_TRUE(check.plausible({2 * kSecond, 0, false, 10'020 * kMilli}, 10'020 * kMilli));
    EXPECT_FALSE(check.plausible({3 * kSecond, 0, false, 10'040 * kMilli}, 10'040 * kMilli)) << "once";
}

TEST(PageCheck, WhoAlwaysHasWorkMayNotJumpAgain) {
    PageCheck check;
    const auto at = [](Nanos used, Nanos now) { return Claim{used, 50 * kMilli, false, now}; };
    EXPECT_TRUE(check.plausible(at(kSecond, 10 * kSecond), 10 * kSecond));
    EXPECT_TRUE(check.plausible(at(2 * kSecond, 10'020 * kMilli), 10'020 * kMilli));
    EXPECT_TRUE(check.plausible(at(2'020 * kMilli, 10'040 * kMilli), 10'040 * kMilli));
    EXPECT_FALSE(check.plausible(at(4 * kSecond, 10'060 * kMilli), 10'060 * kMilli));
}

TEST(PageCheck, WhoBeginsWithoutWorkMayNotJump) {
    PageCheck check;
    EXPECT_TRUE(check.plausible({kSecond, 0, false, 10 * kSecond}, 10 * kSecond));
    EXPECT_TRUE(check.plausible({kSecond, 50 * kMilli, false, 10'010 * kMilli}, 10'010 * kMilli));
    EXPECT_FALSE(check.plausible({2 * kSecond, 0, false, 10'020 * kMilli}, 10'020 * kMilli));
}

TEST(PageCheck, UsedTimeDoesNotJump) {
    for (const Nanos jump :
         {-kSecond, -3'600 * kSecond, kSecond, std::numeric_limits<Nanos>::max() - kSecond}) {
        PageCheck check;
        EXPECT_TRUE(check.plausible({.used = kSecond, .updated = kSecond}, kSecond));
        EXPECT_FALSE(check.plausible({.used = kSecond + jump, .updated = kSecond + 1}, kSecond + kMilli))
            << jump;
    }
}

TEST(PageCheck, AKernelOfTenSecondsIsMeasuredAtOnce) {
    PageCheck check;
    Nanos now = kSecond;
    EXPECT_TRUE(check.plausible({.in_flight = kMilli, .updated = now}, now));
    for (int i = 0; i < 1000; ++i) {
        now += 10 * kMilli;
        EXPECT_TRUE(check.plausible({.in_flight = kMilli, .updated = kSecond}, now));
    }
    EXPECT_TRUE(check.plausible({.used = 10 * kSecond, .updated = now}, now));
}

TEST(PageCheck, WorkDoesNotVanishAgainAndAgain) {
    PageCheck check;
    bool all = true;
    for (Nanos now = 0; now < kSecond; now += 10 * kMilli) {
        const Nanos flight = now / (10 * kMilli) % 2 == 0 ? 20 * kMilli : 0;
        all = check.plausible({.in_flight = flight, .wants = true, .updated = now + 1}, now) && all;
    }
    EXPECT_FALSE(all);
}

TEST(PageCheck, AReportIsNotOlderThanTheOneBefore) {
    PageCheck check;
    EXPECT_TRUE(check.plausible({.updated = 2 * kSecond}, 2 * kSecond));
    EXPECT_FALSE(check.plausible({.updated = kSecond}, 2 * kSecond + kMilli));
}

TEST(Doubt, WhoWaitsAtAnOpenGateForLongIsDoubtedForAWhile) {
    Doubt doubt;
    const DoubtTuning tuning;
    Nanos now = 0;
    const Doubt::Seen waits{.dt = kMilli, .holds = true, .open = true, .wants = true};
    for (; now < tuning.most_unseen; now += kMilli) doubt.see(waits, now, tuning);
    EXPECT_FALSE(doubt.is());
    doubt.see(waits, now, tuning);
    EXPECT_TRUE(doubt.is());
    doubt.see({.dt = kMilli}, now + tuning.lasts, tuning);
    EXPECT_FALSE(doubt.is());
}

TEST(Doubt, WhoIsLateForHalfOfEachTurnIsNot) {
    Doubt doubt;
    for (Nanos now = 0; now < 60 * kSecond; now += 5 * kMilli) {
        doubt.see({.dt = 2 * kMilli, .holds = true, .open = true, .wants = true}, now, {});
        doubt.see({.dt = 3 * kMilli, .fresh = 3 * kMilli, .charged = 3 * kMilli, .holds = true, .open = true},
                  now, {});
        ASSERT_FALSE(doubt.is());
    }
}

// A program with a short kernel now and then, on a host whose cores are busy.
TEST(Doubt, WhoIsLateForMostOfAShortTurnNowAndThenIsNot) {
    Doubt doubt;
    for (Nanos now = 0; now < 600 * kSecond; now += 300 * kMilli) {
        doubt.see({.dt = 3 * kMilli, .holds = true, .open = true, .wants = true}, now, {});
        doubt.see({.dt = 50 * kMicro, .fresh = 50 * kMicro, .charged = 50 * kMicro, .holds = true}, now, {});
        for (int i = 0; i < 29; ++i) doubt.see({.dt = 10 * kMilli, .closed = true}, now, {});
        ASSERT_FALSE(doubt.is());
    }
}

}  // namespace
}  // namespace cgpu::schedule
