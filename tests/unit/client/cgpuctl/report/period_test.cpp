#include "client/cgpuctl/report/period.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <time.h>

#include <string>

namespace cgpu::cgpuctl::report {
namespace {

constexpr std::uint64_t kUs = 1'000'000;
constexpr std::uint64_t kDay = 86'400;
/// Tuesday, 2026-02-03 00:00 in the tests' time zone.
constexpr std::uint64_t kToday = 1'770'076'800 - 7200;
constexpr std::uint64_t kNow = (kToday + 20'000) * kUs;

class PeriodTest : public ::testing::Test {
  protected:
    PeriodTest() {
        setenv("TZ", "XYZ-2", 1);  // two hours east
        tzset();
    }
    ~PeriodTest() override {
        unsetenv("TZ");
        tzset();
    }
    /// Days from today, `FROM..TO`; or the error.
    static std::string days(const std::string& text) {
        const auto span = parse_period(text, kNow);
        if (!span) return span.error().text;
        const auto of = [](std::uint64_t us) {
            EXPECT_EQ((us / kUs - kToday % kDay) % kDay, 0U);
            return std::to_string((static_cast<std::int64_t>(us / kUs) - static_cast<std::int64_t>(kToday)) /
                                  static_cast<std::int64_t>(kDay));
        };
        return of(span->from_us) + ".." + of(span->to_us);
    }
};

TEST_F(PeriodTest, is_a_part_of_the_calendar) {
    EXPECT_EQ(days("today"), "0..1");
    EXPECT_EQ(days("yesterday"), "-1..0");
    EXPECT_EQ(days("this week"), "-1..6");
    EXPECT_EQ(days(" Last Week "), "-8..-1");
    EXPECT_EQ(days("last-week"), "-8..-1");
    EXPECT_EQ(days("this month"), "-2..26");
    EXPECT_EQ(days("last month"), "-33..-2");
    EXPECT_EQ(days("this year"), "-33..332");
    EXPECT_EQ(days("last year"), "-398..-33");
    EXPECT_EQ(days("2026-02"), "-2..26");
    EXPECT_EQ(days("2026-01-31"), "-3..-2");
    EXPECT_EQ(days("2025"), "-398..-33");
    EXPECT_EQ(days("2025-12"), "-64..-33");
}

TEST_F(PeriodTest, refuses_anything_else) {
    for (const auto* text : {"", "week", "2026-13", "2026-00", "2026-02-30", "2026-1", "2026-01-31T08:00",
                             "20260131", "1969", "-2026", "2026-", "last decade", "+026"})
        EXPECT_NE(days(text).find("it is no part of the calendar. Try: "), std::string::npos) << text;
}

}  // namespace
}  // namespace cgpu::cgpuctl::report
