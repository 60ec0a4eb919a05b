#include "core/ends/course.hpp"

#include <gtest/gtest.h>

namespace cgpu::ends {
namespace {

using model::kSecond;
using model::TimeLimit;

constexpr Settings kSettings{600 * kSecond, 30 * kSecond};
constexpr std::uint64_t kHour = 3600;

TEST(Course, AnnouncesEndsAndCloses) {
    TimeLimit time{kHour, 5000 * kSecond};
    EXPECT_EQ(next(time, false, kSettings), (Next{Step::tell_soon, 4400 * kSecond}));
    EXPECT_EQ(next(time, true, kSettings), (Next{Step::end, 5000 * kSecond}));
    time.over = true;
    EXPECT_EQ(next(time, true, kSettings), (Next{Step::close, 5030 * kSecond}));
    time.closed = true;
    EXPECT_EQ(next(time, true, kSettings), Next{});
}

TEST(Course, AShortTimeOrNoSettingAnnouncesNothing) {
    EXPECT_EQ(next({600, 5000 * kSecond}, false, kSettings).step, Step::end);
    EXPECT_EQ(next({601, 5000 * kSecond}, false, kSettings).step, Step::tell_soon);
    EXPECT_EQ(next({kHour, 5000 * kSecond}, false, {0, 30 * kSecond}).step, Step::end);
}

TEST(Course, AnExtensionBeginsAtTheEndOrNow) {
    const TimeLimit time{kHour, 5000 * kSecond};
    EXPECT_EQ(extended(time, 60, 1000 * kSecond), (TimeLimit{kHour + 60, 5060 * kSecond}));
    const TimeLimit over{kHour, 5000 * kSecond, true, true};
    EXPECT_EQ(extended(over, 60, 7000 * kSecond), (TimeLimit{kHour + 60, 7060 * kSecond}));
}

TEST(Course, SecondsLeftAreRoundedUp) {
    const TimeLimit time{kHour, 5000 * kSecond};
    EXPECT_EQ(left(time, 4000 * kSecond), 1000U);
    EXPECT_EQ(left(time, 4999 * kSecond + 1), 1U);
    EXPECT_EQ(left(time, 5000 * kSecond), 0U);
    EXPECT_EQ(left(time, 9000 * kSecond), 0U);
}

/// Whatever is done, and however often somebody extends it: in virtual time each step comes once, in order,
/// and never before its moment.
TEST(Course, InVirtualTimeEachStepComesInItsTurn) {
    TimeLimit time{kHour, kHour * kSecond};
    bool told = false;
    Nanos now = 0;
    int extensions = 3;
    std::vector<Step> steps;
    for (Next todo = next(time, told, kSettings); todo.step != Step::none;
         todo = next(time, told, kSettings)) {
        ASSERT_GE(todo.at, now);
        now = todo.at;
        steps.push_back(todo.step);
        told = told || todo.step == Step::tell_soon;
        if (todo.step == Step::close) time.closed = true;
        if (todo.step != Step::end) continue;
        time.over = true;
        if (extensions-- > 0) {
            now += 10 * kSecond;
            time = extended(time, 1200, now);
            told = false;
        }
    }
    ASSERT_EQ(steps.size(), 9U);
    for (std::size_t i = 0; i < 8; i += 2) {
        EXPECT_EQ(steps[i], Step::tell_soon);
        EXPECT_EQ(steps[i + 1], Step::end);
    }
    EXPECT_EQ(steps[8], Step::close);
    EXPECT_EQ(now, (kHour + 3 * 1210 + 30) * kSecond);
}

}  // namespace
}  // namespace cgpu::ends
