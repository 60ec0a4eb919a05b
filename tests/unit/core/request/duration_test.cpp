#include "core/request/duration.hpp"

#include <gtest/gtest.h>

#include "core/request/request.hpp"

namespace cgpu::request {
namespace {

constexpr model::Nanos kMinute = 60 * model::kSecond;

TEST(Duration, ReadsNumbersWithTheirUnits) {
    EXPECT_EQ(parse_duration("90s"), 90 * model::kSecond);
    EXPECT_EQ(parse_duration("30m"), 30 * kMinute);
    EXPECT_EQ(parse_duration("1h30m"), 90 * kMinute);
    EXPECT_EQ(parse_duration("1d2h3m4s"), (26 * 60 + 3) * kMinute + 4 * model::kSecond);
    EXPECT_EQ(parse_duration("365d"), kLongestDuration);
}

TEST(Duration, RefusesEverythingElse) {
    for (const char* text : {"",
                             "5",
                             "m",
                             "-1s",
                             "+1s",
                             " 1s",
                             "1s ",
                             "1.5h",
                             "1m1h",
                             "1m1m",
                             "1w",
                             "1H",
                             "0s",
                             "0h0m",
                             "366d",
                             "365d1s",
                             "99999999999999999999s",
                             "4294967296s",
                             "4294967295d",
                             "1h\n"})
        EXPECT_FALSE(parse_duration(text)) << text;
}

TEST(Duration, IsWrittenAsItIsRead) {
    for (const char* text : {"1s", "59s", "1m", "1h30m", "1d2h3m4s", "365d"})
        EXPECT_EQ(format_duration(*parse_duration(text)), text);
    EXPECT_EQ(format_duration(0), "0s");
    EXPECT_EQ(format_duration(1'999'999'999), "1s");
}

TEST(Wait, IsHowLongARequestWaits) {
    const auto wait_of = [](const std::string& text) {
        return parse_request({{"CGPU_MEM", "1GiB"}, {"CGPU_WAIT", text}});
    };
    EXPECT_EQ((**parse_request({{"CGPU_MEM", "1GiB"}})).wait, std::nullopt);
    EXPECT_EQ((**wait_of("10m")).wait, 10 * kMinute);
    EXPECT_EQ((**wait_of("forever")).wait, kForever);
    EXPECT_EQ((**wait_of("0")).wait, std::nullopt);
    for (const char* text : {"", "5", "soon", "yes"}) EXPECT_FALSE(wait_of(text)) << text;
    EXPECT_EQ(wait_of("5").error().text,
              "CGPU_WAIT=\"5\": it is no time with its unit. Try: 30s, 10m or 1h30m, forever, or 0 to be "
              "refused at "
              "once.");
    EXPECT_FALSE(parse_request({{"CGPU_WAIT", "10m"}})) << "nothing is asked for that it could wait for";
}

}  // namespace
}  // namespace cgpu::request
