#include <gtest/gtest.h>

#include "core/model/policy.hpp"

namespace {

using cgpu::model::parse_policy;
using cgpu::model::Policy;
using cgpu::model::to_string;

TEST(Policy, IsReadByNumberAndByName) {
    for (std::uint32_t n = 0; n < 6; ++n) {
        const auto policy = static_cast<Policy>(n);
        EXPECT_EQ(parse_policy(std::to_string(n)), policy);
        EXPECT_EQ(parse_policy(to_string(policy)), policy);
    }
    EXPECT_EQ(parse_policy("Fair-SHARE"), Policy::fair_share);
    EXPECT_EQ(to_string(Policy::fair_share), "fair-share");
    EXPECT_EQ(static_cast<std::uint32_t>(Policy::native), 5U);
}

TEST(Policy, AnythingElseIsRefusedWithTheChoices) {
    for (const auto* text : {"", "7", "-1", "02", " 2", "2 ", "wweighted", "fair_share", "unknown"}) {
        const auto policy = parse_policy(text);
        ASSERT_FALSE(policy) << text;
        EXPECT_NE(policy.error().find("it is not one of"), std::string::npos);
        EXPECT_NE(policy.error().find("2 weighted"), std::string::npos);
    }
}

TEST(Policy, ATypoHasALikelyName) {
    EXPECT_EQ(cgpu::model::likely_policy("Wieghted"), "weighted");
    EXPECT_EQ(cgpu::model::likely_policy("fair_share"), "fair-share");
    EXPECT_EQ(cgpu::model::likely_policy("anything else"), "");
}

}  // namespace
