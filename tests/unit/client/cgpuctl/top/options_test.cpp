#include "client/cgpuctl/top/options.hpp"

#include <gtest/gtest.h>

namespace cgpu::cgpuctl::top {
namespace {

TEST(TopOptions, HaveDefaults) {
    const auto options = read_options({});
    ASSERT_TRUE(options);
    EXPECT_EQ(options->delay, std::chrono::milliseconds{1000});
    EXPECT_EQ(options->count, std::nullopt);
    EXPECT_FALSE(options->batch);
}

TEST(TopOptions, AreRead) {
    TopInput input;
    input.delay = "0.25";
    input.count = "3";
    input.batch = true;
    const auto options = read_options(input);
    ASSERT_TRUE(options);
    EXPECT_EQ(options->delay, std::chrono::milliseconds{250});
    EXPECT_EQ(options->count, 3U);
    EXPECT_TRUE(options->batch);
}

TEST(TopOptions, ThatCantBeAreRefused) {
    for (const char* delay : {"x", "0", "0.05", "3601", "1s", "-1", "nan", "inf", "1e2", " 1"}) {
        TopInput input;
        input.delay = delay;
        const auto options = read_options(input);
        ASSERT_FALSE(options) << delay;
        EXPECT_EQ(options.error().kind, client::ClientError::Kind::usage);
        EXPECT_NE(options.error().text.find(". Try: --delay 2."), std::string::npos);
    }
    for (const char* count : {"0", "x", "-1"}) {
        TopInput input;
        input.count = count;
        EXPECT_FALSE(read_options(input)) << count;
    }
}

}  // namespace
}  // namespace cgpu::cgpuctl::top
