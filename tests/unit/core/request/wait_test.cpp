#include <gtest/gtest.h>

#include "core/request/request.hpp"

namespace cgpu::request {
namespace {

constexpr model::Nanos kMinute = 60 * model::kSecond;

TEST(Wait, IsHowLongARequestWaits) {
    const auto wait_of = [](const std::string& text) {
        return parse_request({{"CGPU_MEM", "1GiB"}, {"CGPU_WAIT", text}});
    };
    EXPECT_EQ((**parse_request({{"CGPU_MEM", "1GiB"}})).wait, std::nullopt);
    EXPECT_EQ((**wait_of("10m")).wait, 10 * kMinute);
    EXPECT_EQ((**wait_of("forever")).wait, kForever);
    EXPECT_EQ((**wait_of("0")).wait, std::nullopt);
    for (const char* text : {"", "5", "soon", "yes"}) EXPECT_FALSE(wait_of(text)) << text;
    EXPECT_EQ(
        wait_of("5").error().text,
        "CGPU_WAIT=\"5\": it has no unit. Try: 30s, 10m or 1h30m, forever, or 0 to be refused at once.");
    EXPECT_FALSE(parse_request({{"CGPU_WAIT", "10m"}})) << "nothing is asked for that it could wait for";
}

}  // namespace
}  // namespace cgpu::request
