#include "core/history/recent.hpp"

#include <gtest/gtest.h>

#include "tests/unit/core/history/records.hpp"

namespace cgpu::history {
namespace {

constexpr std::uint64_t kLate = 1'000 * kDayUs;

model::Owner user(std::uint32_t id) { return {id, {}}; }

/// That ends on this day.
Record on_day(std::uint64_t day, std::uint32_t id, double gpu_s) {
    auto record = minute(day * kDayUs / kSecondUs - 60, "job", gpu_s);
    record.owner = user(id);
    return record;
}

TEST(Recent, CountsHalfAsMuchAfterEachHalfLife) {
    Recent recent(kDayUs);
    recent.add(on_day(10, 1, 40), kLate);
    recent.add(on_day(11, 2, 40), kLate);
    recent.add(on_day(12, 3, 30), kLate);
    const auto& all = recent.by_owner();
    EXPECT_NEAR(all.at(user(2)) / all.at(user(1)), 2, 1e-9);
    EXPECT_NEAR(all.at(user(3)) / all.at(user(1)), 3, 1e-9);
    recent.add(on_day(11, 1, 10), kLate);
    EXPECT_NEAR(all.at(user(2)) / all.at(user(1)), 40.0 / 30, 1e-9);
}

TEST(Recent, AddsUpWhatHasFaded) {
    Recent recent(kDayUs);
    recent.add(on_day(10, 1, 40), 13 * kDayUs);
    recent.add(on_day(13, 1, 5), 13 * kDayUs);
    recent.add(on_day(13, 2, 15), 13 * kDayUs);
    const auto& all = recent.by_owner();
    EXPECT_NEAR(all.at(user(1)) / all.at(user(2)), 10.0 / 15, 1e-9) << "40 / 2 / 2 / 2, and 5";
    // A clock that was set back: it counts as of now, and no more than it was.
    Recent set_back(kDayUs);
    set_back.add(on_day(13, 2, 15), 12 * kDayUs);
    set_back.add(on_day(12, 1, 15), 12 * kDayUs);
    EXPECT_NEAR(set_back.by_owner().at(user(1)), set_back.by_owner().at(user(2)), 1);
}

TEST(Recent, GoesOnForYears) {
    Recent recent(kDayUs / 24);
    for (std::uint64_t day = 1; day < 900; day += 7) {
        recent.add(on_day(day, 1, 20), kLate);
        recent.add(on_day(day, 2, 10), kLate);
    }
    EXPECT_NEAR(recent.by_owner().at(user(1)) / recent.by_owner().at(user(2)), 2, 1e-6);
    // What is long over counts nothing.
    recent.add(on_day(1, 3, 1e9), kLate);
    EXPECT_LT(recent.by_owner().at(user(3)), recent.by_owner().at(user(2)));
}

TEST(Recent, AClockThatWasAheadGivesNoOneMore) {
    Recent recent(kDayUs);
    recent.add(on_day(500, 1, 10), 20 * kDayUs);
    recent.add(on_day(20, 2, 10), 20 * kDayUs);
    EXPECT_NEAR(recent.by_owner().at(user(1)), recent.by_owner().at(user(2)), 1e-3);
}

TEST(Recent, IsBounded) {
    Recent recent(kDayUs);
    for (std::uint32_t each = 1; each < 20'000; ++each) recent.add(on_day(10, each, each % 50 + 1), kLate);
    recent.add(on_day(10, 77, 59), kLate);
    EXPECT_LE(recent.by_owner().size(), Recent::kMostOwners + 1);
    EXPECT_TRUE(recent.by_owner().contains(user(77)));
}

}  // namespace
}  // namespace cgpu::history
