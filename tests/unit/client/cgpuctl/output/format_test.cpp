#include "client/cgpuctl/output/format.hpp"

#include <gtest/gtest.h>

namespace cgpu::cgpuctl {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

TEST(SizeText, WholeMibAreExact) {
    EXPECT_EQ(size_text(0), "0MiB");
    EXPECT_EQ(size_text(4509925376), "4301MiB");
    EXPECT_EQ(size_text(16130 * kMiB), "16130MiB");
}

TEST(SizeText, OthersHaveOneDecimalAndNeverLookWhole) {
    EXPECT_EQ(size_text(kMiB + kMiB / 2), "1.5MiB");
    EXPECT_EQ(size_text(2 * kMiB - 1), "1.9MiB");
    EXPECT_EQ(size_text(1), "0.1MiB");
}

TEST(ShareText, PerCent) {
    EXPECT_EQ(share_text(0), "0%");
    EXPECT_EQ(share_text(1), "100%");
    EXPECT_EQ(share_text(1.0 / 3), "33.3%");
    EXPECT_EQ(share_text(0.29), "29%");
}

TEST(SharesText, WhatIsUnexplainedIsARemark) {
    client::Usage usage;
    EXPECT_EQ(shares_text(usage), "native");
    usage.target_share = 0.5;
    usage.achieved_share = 0.02;
    EXPECT_EQ(shares_text(usage), "50% / 2%");
    usage.compute_unexplained = 0;
    EXPECT_EQ(shares_text(usage), "50% / 2%");
    usage.compute_unexplained = 0.484;
    EXPECT_EQ(shares_text(usage), "50% / 2% (48.4% unexplained)");
}

TEST(DurationText, PicksTheUnit) {
    EXPECT_EQ(duration_text(0), "0s");
    EXPECT_EQ(duration_text(1'500), "1.5us");
    EXPECT_EQ(duration_text(4'100'000), "4.1ms");
    EXPECT_EQ(duration_text(83'200'000'000), "83.2s");
}

TEST(Printable, TakesOutWhatMovesTheCursor) { EXPECT_EQ(printable("a\033[2Jb\n\x7f"), "a?[2Jb??"); }

// A terminal may read U+009B as it reads escape and a bracket.
TEST(Printable, TakesOutTheSecondSetOfControlCharacters) {
    EXPECT_EQ(printable("a\u009b2Jb\u0080\u009f"), "a?2Jb??");
    EXPECT_EQ(printable("\u00a0\u00c2"), "\u00a0\u00c2");
    EXPECT_EQ(printable("\xc2"), "?") << "an end in the middle of a character";
}

TEST(Printable, LeavesUtf8) { EXPECT_EQ(printable("größe"), "größe"); }

TEST(TextWidth, CountsCodePoints) {
    EXPECT_EQ(text_width("größe"), 5U);
    EXPECT_EQ(text_width(""), 0U);
}

TEST(ShownName, IsPrintableAndOfBoundedWidth) {
    EXPECT_EQ(shown_name("web"), "web");
    EXPECT_EQ(shown_name("a\u202eb"), "a?b");
    EXPECT_EQ(shown_name(std::string(40, 'x')), std::string(40, 'x'));
    EXPECT_EQ(shown_name(std::string(300, 'x')), std::string(39, 'x') + "…");
    EXPECT_EQ(shown_name("", "0123456789abcdef"), "0123456789ab");
    EXPECT_EQ(shown_name("\u200b", "0123456789abcdef"), "?") << "a name that can't be seen is one";
}

TEST(WordFor, ACommandThatIsSuggestedHasNothingThatAShellWouldCarryOut) {
    const std::string id = "0123456789abcdef";
    EXPECT_EQ(word_for("web-1.a_b", id), "web-1.a_b");
    for (const std::string& name :
         {std::string("$(reboot)"), std::string("a b"), std::string("-q"), std::string(""),
          std::string("x;y"), std::string("é"), std::string(41, 'x')})
        EXPECT_EQ(word_for(name, id), "0123456789ab") << name;
}

TEST(ShortId, TwelveCharactersOrAll) {
    EXPECT_EQ(short_id("0123456789abcdef"), "0123456789ab");
    EXPECT_EQ(short_id("abc"), "abc");
}

TEST(Wrapped, TextIsBrokenAtBlanks) {
    using Texts = std::vector<std::string>;
    EXPECT_EQ(wrapped("one two three", 8), (Texts{"one two", "three"}));
    EXPECT_EQ(wrapped("one two three", 7), (Texts{"one two", "three"}));
    EXPECT_EQ(wrapped("abcdefgh", 3), (Texts{"abc", "def", "gh"}));
    EXPECT_EQ(wrapped("", 3), Texts{});
    EXPECT_EQ(wrapped("abc", 0), Texts{});
}

}  // namespace
}  // namespace cgpu::cgpuctl
