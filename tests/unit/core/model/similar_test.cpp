#include "core/model/similar.hpp"

#include <gtest/gtest.h>

namespace cgpu::model {
namespace {

const std::vector<std::string_view> kKnown = {"status", "list", "set-policy", "set-weight", "0.2.0", "0.3.0"};

TEST(Similar, ATypoHasTheWordThatWasMeant) {
    EXPECT_EQ(most_similar("stauts", kKnown), "status");
    EXPECT_EQ(most_similar("STATUS", kKnown), "status");
    EXPECT_EQ(most_similar("set-polcy", kKnown), "set-policy");
    EXPECT_EQ(most_similar("setweight", kKnown), "set-weight");
    EXPECT_EQ(most_similar("ls", kKnown), "list");
    EXPECT_EQ(most_similar("0.3.1", kKnown), "0.3.0");
}

TEST(Similar, TwoLettersInTheWrongOrderAreOneTypo) {
    EXPECT_EQ(distance("wbe", "web"), 1U);
    EXPECT_EQ(distance("ab", "ba"), 1U);
    EXPECT_EQ(distance("", "abc"), 3U);
    EXPECT_EQ(distance("abc", ""), 3U);
    EXPECT_EQ(distance("kitten", "sitting"), 3U);
    EXPECT_EQ(most_similar("wbe", {"db", "web"}), "web");
}

TEST(Similar, AnotherWordHasNone) {
    EXPECT_EQ(most_similar("frobnicate", kKnown), "");
    EXPECT_EQ(most_similar("", {"status"}), "");
    EXPECT_EQ(most_similar("status", {}), "");
    EXPECT_EQ(most_similar(std::string(100'000, 's'), kKnown), "");
    const std::string huge(100'000, 's');
    EXPECT_EQ(most_similar("sss", {huge}), "");
}

TEST(Similar, OnlyLettersOfAsciiBecomeSmall) { EXPECT_EQ(lowered("WeB-1_Ä"), "web-1_Ä"); }

}  // namespace
}  // namespace cgpu::model
