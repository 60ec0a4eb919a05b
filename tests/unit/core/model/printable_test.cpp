#include "core/model/printable.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "core/model/letter.hpp"

namespace cgpu::model {
namespace {

std::string utf8(char32_t code) {
    std::string text;
    const auto add = [&text](char32_t byte) { text += static_cast<char>(static_cast<unsigned char>(byte)); };
    if (code < 0x80) {
        add(code);
    } else if (code < 0x800) {
        add(0xc0U | (code >> 6U));
        add(0x80U | (code & 0x3fU));
    } else if (code < 0x10000) {
        add(0xe0U | (code >> 12U));
        add(0x80U | ((code >> 6U) & 0x3fU));
        add(0x80U | (code & 0x3fU));
    } else {
        add(0xf0U | (code >> 18U));
        add(0x80U | ((code >> 12U) & 0x3fU));
        add(0x80U | ((code >> 6U) & 0x3fU));
        add(0x80U | (code & 0x3fU));
    }
    return text;
}

TEST(Printable, WhatChangesHowOtherTextIsSeenIsNotPassedOn) {
    for (const auto& [first, last] : std::vector<std::pair<char32_t, char32_t>>{{0x00, 0x1f},
                                                                                {0x7f, 0x9f},
                                                                                {0xad, 0xad},
                                                                                {0x61c, 0x61c},
                                                                                {0x200b, 0x200f},
                                                                                {0x2028, 0x202e},
                                                                                {0x2060, 0x206f},
                                                                                {0xfe00, 0xfe0f},
                                                                                {0xfeff, 0xfeff},
                                                                                {0xfff9, 0xfffb},
                                                                                {0x3164, 0x3164},
                                                                                {0x180e, 0x180e},
                                                                                {0xe0001, 0xe007f},
                                                                                {0xfffe, 0xffff}})
        for (char32_t code = first; code <= last; ++code)
            EXPECT_EQ(printable("a" + utf8(code) + "b"), "a?b") << std::hex << static_cast<unsigned>(code);
}

TEST(Printable, LettersOfAllLanguagesStay) {
    for (const char* text : {"web-1", "größe", "обучение", "训练", "学習ジョブ", "훈련", "تدريب", "אימון",
                             "प्रशिक्षण", "🚀", "e\u0301", "Việt"})
        EXPECT_EQ(printable(text), text);
}

TEST(Printable, WhatIsNoUtf8IsNotPassedOn) {
    EXPECT_EQ(printable("\xff"), "?");
    EXPECT_EQ(printable("a\xc3"), "a?");
    EXPECT_EQ(printable("\xe2\x80"), "??");
    EXPECT_EQ(printable("\xc0\x9b"), "??") << "longer than needed";
    EXPECT_EQ(printable("\xe0\x80\x9b"), "???");
    EXPECT_EQ(printable("\xed\xa0\x80"), "???") << "half of a pair";
    EXPECT_EQ(printable("\xf4\x90\x80\x80"), "????") << "beyond the last";
}

TEST(Printable, AFewMarksAreOneLetter) {
    EXPECT_EQ(printable("a\u0301\u0302\u0303\u0304b"), "a\u0301\u0302??b");
    EXPECT_EQ(printable("\u0301a"), "?a") << "it would be drawn over what stands before the text";
}

TEST(TextWidth, CountsColumns) {
    EXPECT_EQ(text_width(""), 0U);
    EXPECT_EQ(text_width("größe"), 5U);
    EXPECT_EQ(text_width("训练"), 4U);
    EXPECT_EQ(text_width("ｗ"), 2U);
    EXPECT_EQ(text_width("e\u0301"), 1U);
    EXPECT_EQ(text_width("▏│…"), 3U) << "what bars are drawn with";
    EXPECT_EQ(text_width("\xff\xff"), 2U);
}

TEST(Shortened, EndsWithAnEllipsisWhereItIsCut) {
    EXPECT_EQ(shortened("train", 5), "train");
    EXPECT_EQ(shortened("train", 4), "tra…");
    EXPECT_EQ(shortened("训练模型", 6), "训练…") << "a wide letter that doesn't fit isn't begun";
    EXPECT_EQ(shortened("train", 1), "…");
    EXPECT_EQ(shortened("train", 0), "");
    EXPECT_EQ(shortened("", 0), "");
}

/// Texts in which what is hostile is frequent.
rc::Gen<std::string> hostile() {
    const auto letter = rc::gen::map(rc::gen::oneOf(rc::gen::inRange<std::uint32_t>(0, 0x250),
                                                    rc::gen::inRange<std::uint32_t>(0x2000, 0x2070),
                                                    rc::gen::inRange<std::uint32_t>(0x300, 0x370),
                                                    rc::gen::inRange<std::uint32_t>(0, 0x10ffff)),
                                     [](std::uint32_t code) { return utf8(code); });
    const auto bytes = rc::gen::arbitrary<std::string>();
    return rc::gen::map(rc::gen::container<std::vector<std::string>>(rc::gen::oneOf(letter, bytes)),
                        [](const std::vector<std::string>& parts) {
                            std::string all;
                            for (const auto& part : parts) all += part;
                            return all;
                        });
}

RC_GTEST_PROP(Printable, IsUtf8WithoutHiddenLettersAndStaysAsItIs, ()) {
    const std::string shown = printable(*hostile());
    std::size_t marks = 0;
    for (std::string_view rest = shown; !rest.empty();) {
        const Letter letter = first_letter(rest);
        RC_ASSERT(letter.bytes > 0);
        RC_ASSERT(!is_hidden(letter.code));
        marks = is_mark(letter.code) ? marks + 1 : 0;
        RC_ASSERT(marks <= 2U);
        rest.remove_prefix(letter.bytes);
    }
    RC_ASSERT(printable(shown) == shown);
}

RC_GTEST_PROP(Shortened, FitsAndIsUtf8, ()) {
    const auto width = *rc::gen::inRange<std::size_t>(0, 50);
    const std::string text = printable(*hostile());
    const std::string part = shortened(text, width);
    RC_ASSERT(text_width(part) <= width);
    RC_ASSERT(printable(part) == part);
    RC_ASSERT(part == text || width == 0 || part.ends_with("…"));
}

}  // namespace
}  // namespace cgpu::model
