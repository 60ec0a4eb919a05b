#include "client/cgpuctl/events/since.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <time.h>

#include <string>

namespace cgpu::cgpuctl {
namespace {

constexpr std::uint64_t kSecond = 1'000'000;
/// 2026-02-03 04:05:06 UTC
constexpr std::uint64_t kNow = 1'770'091'506 * kSecond;

/// The time zone of the tests has an offset, so that local times aren't UTC by chance.
class SinceTest : public ::testing::Test {
  protected:
    SinceTest() {
        setenv("TZ", "XYZ-2", 1);  // two hours east
        tzset();
    }
    ~SinceTest() override {
        unsetenv("TZ");
        tzset();
    }
    /// Seconds before now; or the error.
    static std::string ago(const std::string& text) {
        const auto time = parse_since(text, kNow);
        if (!time) return time.error().text;
        return std::to_string((static_cast<std::int64_t>(kNow) - static_cast<std::int64_t>(*time)) /
                              1'000'000);
    }
};

TEST_F(SinceTest, spans) {
    EXPECT_EQ(ago("10min"), "600");
    EXPECT_EQ(ago("1h"), "3600");
    EXPECT_EQ(ago("1h30min"), "5400");
    EXPECT_EQ(ago(" 1h 30 min "), "5400");
    EXPECT_EQ(ago("-2d"), "172800");
    EXPECT_EQ(ago("2 days ago"), "172800");
    EXPECT_EQ(ago("90S"), "90");
    EXPECT_EQ(ago("1w"), "604800");
    EXPECT_EQ(ago("now"), "0");
}

TEST_F(SinceTest, days_and_dates_are_local) {
    // Now it is 06:05:06 there.
    EXPECT_EQ(ago("today"), std::to_string(6 * 3600 + 5 * 60 + 6));
    EXPECT_EQ(ago("yesterday"), std::to_string(30 * 3600 + 5 * 60 + 6));
    EXPECT_EQ(ago("06:05"), "6");
    EXPECT_EQ(ago("06:00:06"), "300");
    EXPECT_EQ(ago("2026-02-03 06:05"), "6");
    EXPECT_EQ(ago("2026-02-03T06:05:00"), "6");
    EXPECT_EQ(ago("2026-02-03"), std::to_string(6 * 3600 + 5 * 60 + 6));
    EXPECT_EQ(ago("2026-02-03T04:05:00Z"), "6");
    EXPECT_EQ(ago("2026-02-03 04:05 UTC"), "6");
    EXPECT_EQ(ago("@1770091500"), "6");
    EXPECT_EQ(ago("2024-02-29 06:05:06"), std::to_string(705 * 86'400));
}

TEST_F(SinceTest, others_are_refused_with_what_can_be_written) {
    for (const char* text : {"", "soon", "10", "10 lightyears", "min", "1h x", "2026-13-01", "25:00", "@",
                             "@x", "-", "99999999999999999999d", "2026-02-03 04:05 CET", "ago", " ago",
                             "2026-02-30", "2026-02-29 08:15", "2026-04-31T08:15:00", "2026-06-31 08:15 UTC"})
        EXPECT_NE(ago(text).find("it is no time. Try: 10min, 1h, monday, yesterday"), std::string::npos)
            << text;
}

// Now it is Tuesday, 06:05:06.
TEST_F(SinceTest, days_of_the_week_and_parts_of_the_calendar) {
    constexpr int kToday = 6 * 3600 + 5 * 60 + 6;
    constexpr int kDay = 86'400;
    EXPECT_EQ(ago("tuesday"), std::to_string(kToday));
    EXPECT_EQ(ago("Monday"), std::to_string(kToday + kDay));
    EXPECT_EQ(ago("mon"), std::to_string(kToday + kDay));
    EXPECT_EQ(ago("wednesday"), std::to_string(kToday + 6 * kDay));
    EXPECT_EQ(ago("this week"), ago("monday"));
    EXPECT_EQ(ago("Last Week"), std::to_string(kToday + 8 * kDay));
    EXPECT_EQ(ago("last-week"), ago("last week"));
    EXPECT_EQ(ago("this month"), std::to_string(kToday + 2 * kDay));
    EXPECT_EQ(ago("last month"), std::to_string(kToday + 33 * kDay));
    EXPECT_NE(ago("next week").find("it is no time"), std::string::npos);
    EXPECT_NE(ago("mond").find("it is no time"), std::string::npos);
}

}  // namespace
}  // namespace cgpu::cgpuctl
