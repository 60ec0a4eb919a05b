#include "core/model/utf8.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "core/model/letter.hpp"

namespace cgpu::model {
namespace {

TEST(ValidUtf8, WhatIsValidStays) {
    for (const char* text :
         {"", "web", "Z\xc3\xbcrich", "a\nb\t\"", "\xe2\x82\xac", "\xf0\x9f\x9a\x80", "\xef\xbf\xbd"})
        EXPECT_EQ(valid_utf8(text), text);
}

TEST(ValidUtf8, WhatTheBusRefusesIsReplaced) {
    EXPECT_EQ(valid_utf8("caf\xe9"), "caf\xef\xbf\xbd");
    EXPECT_EQ(valid_utf8("\xff\xfe x"), "\xef\xbf\xbd\xef\xbf\xbd x");
    EXPECT_EQ(valid_utf8("\xc3"), "\xef\xbf\xbd");
    EXPECT_EQ(valid_utf8("\xed\xa0\x80"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd") << "half of a pair";
    EXPECT_EQ(valid_utf8("a\xef\xbf\xbe"), "a\xef\xbf\xbd") << "U+FFFE";
    EXPECT_EQ(valid_utf8("\xef\xb7\x90"), "\xef\xbf\xbd") << "U+FDD0";
    EXPECT_EQ(valid_utf8(std::string_view("a\0b", 3)),
              "a\xef\xbf\xbd"
              "b");
}

RC_GTEST_PROP(ValidUtf8, IsValidWhateverItIsMadeOf, (const std::string& text)) {
    const std::string valid = valid_utf8(text);
    RC_ASSERT(valid_utf8(valid) == valid);
    for (std::string_view rest = valid; !rest.empty();) {
        const Letter letter = first_letter(rest);
        RC_ASSERT(letter.bytes > 0U);
        rest.remove_prefix(letter.bytes);
    }
}

}  // namespace
}  // namespace cgpu::model
