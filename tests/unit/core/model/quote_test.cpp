#include "core/model/quote.hpp"
#include "core/model/counted.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "core/model/counted.hpp"

namespace cgpu::model {
namespace {

TEST(Quote, EscapesWhatATerminalOrTheBusWouldNotTake) {
    EXPECT_EQ(quote("plain"), "\"plain\"");
    EXPECT_EQ(quote("a\nb\tc"), "\"a\\nb\\tc\"");
    EXPECT_EQ(quote("\x1b[31m"), "\"\\x1b[31m\"");
    EXPECT_EQ(quote("\xff"), "\"\\xff\"");
    EXPECT_EQ(quote("say \"x\\y\""), "\"say \\\"x\\\\y\\\"\"");
    EXPECT_EQ(quote(std::string_view("\0", 1)), "\"\\x00\"");
}

TEST(Quote, CutsLongText) {
    EXPECT_EQ(quote(std::string(64, 'x')), '"' + std::string(64, 'x') + '"');
    EXPECT_EQ(quote(std::string(65, 'x')), '"' + std::string(64, 'x') + "...\"");
}

TEST(ShellWord, IsOneWordThatAShellReadsAsTheText) {
    EXPECT_EQ(shell_word("web-1.a_b"), "web-1.a_b");
    EXPECT_EQ(shell_word("my job"), "'my job'");
    EXPECT_EQ(shell_word("$(reboot)"), "'$(reboot)'");
    EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
    EXPECT_EQ(shell_word(""), "''");
    EXPECT_EQ(shell_word("-q"), "'-q'");
    EXPECT_EQ(shell_word("a\u202eb'\\\n"), "$'a\\xe2\\x80\\xaeb\\x27\\x5c\\x0a'");
}

TEST(PlainWord, NothingInItMeansAnythingToAShell) {
    EXPECT_TRUE(is_plain_word("web-1.a_B"));
    for (const char* word : {"", "-q", "a b", "a;b", "$a", "`a`", "a\nb", "é", "a*", "~", "#a", "!a"})
        EXPECT_FALSE(is_plain_word(word)) << word;
}

RC_GTEST_PROP(ShellWord, IsOneLineOfPrintableAscii, (const std::string& text)) {
    for (const char c : shell_word(text)) RC_ASSERT(c >= 0x20 && c < 0x7f);
}

RC_GTEST_PROP(Quote, IsAlwaysShortPrintableAscii, (const std::string& text)) {
    const std::string quoted = quote(text);
    RC_ASSERT(quoted.size() <= 64 * 4 + 5);
    for (const char c : quoted) RC_ASSERT(c >= 0x20 && c < 0x7f);
}

TEST(Counted, HasTheNounInTheNumberThatFits) {
    EXPECT_EQ(counted(0, "GPU"), "0 GPUs");
    EXPECT_EQ(counted(1, "GPU"), "1 GPU");
    EXPECT_EQ(counted(2, "instance"), "2 instances");
    EXPECT_EQ(counted(1, "process"), "1 process");
    EXPECT_EQ(counted(3, "running process"), "3 running processes");
}

}  // namespace
}  // namespace cgpu::model
