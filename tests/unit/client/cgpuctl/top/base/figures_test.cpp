#include "client/cgpuctl/top/base/figures.hpp"

#include <gtest/gtest.h>

#include "client/cgpuctl/output/format.hpp"

namespace cgpu::cgpuctl::top {
namespace {

using Texts = std::vector<std::string>;

TEST(TopBar, HasItsWidthForEveryShare) {
    for (int per_mille = -100; per_mille <= 1100; ++per_mille)
        for (const bool utf8 : {true, false})
            EXPECT_EQ(text_width(bar(per_mille / 1000.0, 0.5, 10, utf8)), 10U) << per_mille;
    EXPECT_EQ(bar(0.5, 0.5, 0, true), "");
}

TEST(TopBar, GrowsByEighthsOfAColumn) {
    EXPECT_EQ(bar(0, std::nullopt, 4, true), "    ");
    EXPECT_EQ(bar(1.0 / 32, std::nullopt, 4, true), "▏   ");
    EXPECT_EQ(bar(0.375, std::nullopt, 4, true), "█▌  ");
    EXPECT_EQ(bar(1, std::nullopt, 4, true), "████");
    EXPECT_EQ(bar(7, std::nullopt, 4, true), "████");
    EXPECT_EQ(bar(std::nullopt, std::nullopt, 4, true), "    ");
}

TEST(TopBar, IsAsciiOnATerminalWithoutUtf8) {
    EXPECT_EQ(bar(0.25, std::nullopt, 4, false), "#...");
    EXPECT_EQ(bar(0.375, std::nullopt, 4, false), "##..");
    EXPECT_EQ(bar(0.25, 0.75, 4, false), "#..|");
}

TEST(TopBar, TheMarkIsTheOtherShare) {
    EXPECT_EQ(bar(1, 0.5, 4, true), "██│█");
    EXPECT_EQ(bar(0, 1, 4, true), "   │");
    EXPECT_EQ(bar(0, 0, 4, true), "│   ");
}

TEST(TopSparkline, ShowsTheLastShares) {
    EXPECT_EQ(sparkline({0.0, 0.125, 0.5, 1.0}, 6, true), "   ▁▄█");
    EXPECT_EQ(sparkline({1.0, 0.0, 0.5}, 2, true), " ▄");
    EXPECT_EQ(sparkline({1.0, std::nullopt, 0.5}, 3, false), "# =");
    EXPECT_EQ(sparkline({}, 3, true), "   ");
}

TEST(TopNarrow, LeavesWhatIsOneColumnWide) {
    EXPECT_EQ(narrow("train-1", true), "train-1");
    EXPECT_EQ(narrow("größer", true), "größer");
    EXPECT_EQ(narrow("größer", false), "gr??er");
}

TEST(TopNarrow, NamesOfOthersCantMoveTheCursorOrShiftColumns) {
    EXPECT_EQ(narrow("a\x1b[2Jb\n", true), "a?[2Jb?");
    EXPECT_EQ(narrow("a\xc2\x9b"
                     "2J",
                     true),
              "a?2J");
    EXPECT_EQ(narrow("日本", true), "??");
    EXPECT_EQ(narrow("e\xcc\x81", true), "e?");  // joins with the one before it
    EXPECT_EQ(narrow("\xff\xc3", true), "??");
    EXPECT_EQ(narrow("a\xe6\x97", true), "a??");
}

TEST(TopText, IsFilledOrCut) {
    EXPECT_EQ(left("ab", 4), "ab  ");
    EXPECT_EQ(right("ab", 4), "  ab");
    EXPECT_EQ(left("größer", 3), "grö");
    EXPECT_EQ(right("", 2), "  ");
}

}  // namespace
}  // namespace cgpu::cgpuctl::top
