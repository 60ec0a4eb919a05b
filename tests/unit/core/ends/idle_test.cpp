#include "core/ends/idle.hpp"

#include <gtest/gtest.h>

namespace cgpu::ends {
namespace {

using model::kSecond;

constexpr std::uint64_t kHalfHour = 1800;

/// In virtual time: looks as they are due, at an instance that works until then.
Nanos end_of(Nanos works_until, std::uint64_t seconds, int& looks) {
    Nanos now = 0;
    const auto work = [&] { return Work{static_cast<std::uint64_t>(std::min(now, works_until)), 0, 0}; };
    Idle idle = first_look(work(), seconds, now);
    for (looks = 1; !is_over(idle, seconds, now); ++looks) {
        EXPECT_GT(idle.look_at, now);
        now = idle.look_at;
        idle = next_look(idle, work(), seconds, now);
    }
    return now;
}

TEST(Idle, EndsAfterTheTimeWithoutWorkAndNeverSooner) {
    int looks = 0;
    EXPECT_EQ(end_of(0, kHalfHour, looks), 1800 * kSecond);
    EXPECT_LE(looks, 22);
    for (const Nanos works_until : {kSecond, 89 * kSecond, 91 * kSecond, 5000 * kSecond}) {
        const Nanos end = end_of(works_until, kHalfHour, looks);
        EXPECT_GE(end, works_until + 1800 * kSecond);
        EXPECT_LE(end, works_until + 1890 * kSecond);
    }
    EXPECT_EQ(end_of(0, 3, looks), 3 * kSecond);
}

TEST(Idle, WhatNobodyKnowsCountsAsWork) {
    Idle idle = first_look(std::nullopt, kHalfHour, 0);
    for (Nanos now = 0; now < 10000 * kSecond; now = idle.look_at) {
        EXPECT_FALSE(is_over(idle, kHalfHour, now));
        idle = next_look(idle, std::nullopt, kHalfHour, idle.look_at);
    }
}

TEST(Idle, IsToldOnceAndAgainAfterWork) {
    constexpr Nanos kSoon = 600 * kSecond;
    const Work none;
    Idle idle = first_look(none, kHalfHour, 0);
    EXPECT_EQ(ends_at(idle, kHalfHour), 1800 * kSecond);
    idle = next_look(idle, none, kHalfHour, 1199 * kSecond);
    EXPECT_FALSE(is_to_tell(idle, kHalfHour, kSoon, 1199 * kSecond));
    EXPECT_TRUE(is_to_tell(idle, kHalfHour, kSoon, 1200 * kSecond));
    EXPECT_FALSE(is_to_tell(idle, kHalfHour, 0, 1799 * kSecond)) << "nothing is to be told";
    EXPECT_FALSE(is_to_tell(idle, 600, kSoon, 599 * kSecond)) << "it asked for so little";
    idle.told = true;
    idle = next_look(idle, none, kHalfHour, 1300 * kSecond);
    EXPECT_FALSE(is_to_tell(idle, kHalfHour, kSoon, 1300 * kSecond));
    idle = next_look(idle, std::nullopt, kHalfHour, 1400 * kSecond);
    EXPECT_TRUE(is_to_tell(idle, kHalfHour, kSoon, 2600 * kSecond));
}

TEST(Idle, AnyOfTheFiguresIsWork) {
    const Idle idle = first_look(Work{1, 2, 3}, kHalfHour, 0);
    for (const Work& more : {Work{2, 2, 3}, Work{1, 3, 3}, Work{1, 2, 4}, Work{0, 0, 0}})
        EXPECT_EQ(next_look(idle, more, kHalfHour, 90 * kSecond).since, 90 * kSecond);
    EXPECT_EQ(next_look(idle, Work{1, 2, 3}, kHalfHour, 90 * kSecond).since, 0);
}

}  // namespace
}  // namespace cgpu::ends
