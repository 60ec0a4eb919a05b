#include "core/model/duration.hpp"

#include <gtest/gtest.h>

namespace cgpu::model {
namespace {

TEST(Duration, IsReadAsPeopleWriteIt) {
    EXPECT_EQ(parse_duration("45s"), 45U);
    EXPECT_EQ(parse_duration("90m"), 5400U);
    EXPECT_EQ(parse_duration("1h30m"), 5400U);
    EXPECT_EQ(parse_duration("7d"), 604800U);
    EXPECT_EQ(parse_duration("1d2h3m4s"), 93784U);
    EXPECT_EQ(parse_duration("3650d"), kLongestDuration);
}

TEST(Duration, SaysWhyItIsNone) {
    EXPECT_EQ(parse_duration("2").error(), "it has no unit");
    EXPECT_EQ(parse_duration("1h30").error(), "it has no unit");
    EXPECT_EQ(parse_duration("").error(), "it is empty");
    EXPECT_EQ(parse_duration("0s").error(), "it is no time at all");
    EXPECT_EQ(parse_duration("3651d").error(), "it is too long");
    EXPECT_EQ(parse_duration("99999999999999999999h").error(), "it is too long");
    for (const char* text : {"h", "-1h", "1.5h", "1 h", "30m1h", "1h1h", "2w", "soon"})
        EXPECT_EQ(parse_duration(text).error(), "it is no duration") << text;
}

TEST(Duration, IsWrittenWithItsTwoLargestParts) {
    EXPECT_EQ(format_duration(0), "0s");
    EXPECT_EQ(format_duration(59), "59s");
    EXPECT_EQ(format_duration(60), "1m");
    EXPECT_EQ(format_duration(5400), "1h30m");
    EXPECT_EQ(format_duration(86400), "24h");
    EXPECT_EQ(format_duration(3 * 86400 + 4 * 3600 + 59), "3d4h");
    EXPECT_EQ(exact_duration(3 * 86400 + 4 * 3600 + 59), "3d4h59s");
    for (const std::uint64_t seconds : {1U, 61U, 3600U, 3601U, 5400U, 86400U, 604800U, 178259U})
        EXPECT_EQ(parse_duration(exact_duration(seconds)), seconds);
}

}  // namespace
}  // namespace cgpu::model
