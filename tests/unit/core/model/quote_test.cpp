#include "core/model/quote.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

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

RC_GTEST_PROP(Quote, IsAlwaysShortPrintableAscii, (const std::string& text)) {
    const std::string quoted = quote(text);
    RC_ASSERT(quoted.size() <= 64 * 4 + 5);
    for (const char c : quoted) RC_ASSERT(c >= 0x20 && c < 0x7f);
}

}  // namespace
}  // namespace cgpu::model
