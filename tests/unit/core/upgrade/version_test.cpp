#include "core/upgrade/version.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/unit/core/upgrade/versions.hpp"

namespace cgpu::upgrade {
namespace {

TEST(Version, ReadsThreeNumbers) {
    EXPECT_EQ(Version::parse("1.2.3"), (Version{1, 2, 3}));
    EXPECT_EQ(Version::parse("0.0.0"), Version());
    EXPECT_EQ(Version::parse("255.255.255"), (Version{255, 255, 255}));
}

TEST(Version, RefusesOtherForms) {
    for (const char* text : {"",          "1",
                             "1.2",       "1.2.",
                             ".2.3",      "1..3",
                             "1.2.3.",    "1.2.3.4",
                             "v1.2.3",    "1.2.3-1",
                             " 1.2.3",    "1.2.3 ",
                             "1.2.3\n",   "+1.2.3",
                             "-1.2.3",    "1.-2.3",
                             "1,2,3",     "256.0.0",
                             "0.256.0",   "0.0.256",
                             "65536.0.0", "01.2.3",
                             "1.02.3",    "1.2.00",
                             "0x1.2.3",   "1.2.99999999999999999999",
                             "..",        "...",
                             "../1.2.3",  "1.2.3/"})
        EXPECT_EQ(Version::parse(text), std::nullopt) << text;
    EXPECT_EQ(Version::parse(std::string_view("1.2.3\0", 6)), std::nullopt);
}

TEST(Version, IsComparedNumberByNumber) {
    EXPECT_LT((Version{0, 9, 0}), (Version{0, 10, 0}));
    EXPECT_LT((Version{1, 255, 255}), (Version{2, 0, 0}));
}

TEST(Version, IsPackedAsFrontsSayIt) { EXPECT_EQ((Version{1, 2, 3}).packed(), 0x010203u); }

RC_GTEST_PROP(Version, RoundTrips, (const Version& version)) {
    RC_ASSERT(Version::parse(version.str()) == version);
    RC_ASSERT(Version::unpack(version.packed()) == version);
}

RC_GTEST_PROP(Version, IsOrderedAsItIsPacked, (const Version& a, const Version& b)) {
    RC_ASSERT((a < b) == (a.packed() < b.packed()));
    RC_ASSERT((a == b) == (a.packed() == b.packed()));
}

RC_GTEST_PROP(Version, WhatIsReadIsWhatWasWritten, ()) {
    const auto text = *rc::gen::container<std::string>(rc::gen::element('0', '1', '2', '5', '.', '-', ' '));
    const auto version = Version::parse(text);
    if (version) RC_ASSERT(version->str() == text);
}

}  // namespace
}  // namespace cgpu::upgrade
