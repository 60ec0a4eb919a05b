#include "core/model/nearest.hpp"

#include <array>
#include <string>

#include <gtest/gtest.h>

namespace cgpu::model {
namespace {

constexpr std::array<std::string_view, 3> kKnown = {"memory.total", "memory.used", "name"};

TEST(Nearest, FindsTheNameThatWasMeant) {
    EXPECT_EQ(nearest("memory.totl", kKnown), "memory.total");
    EXPECT_EQ(nearest("memory_used", kKnown), "memory.used");
    EXPECT_EQ(nearest("nam", kKnown), "name");
}

TEST(Nearest, AnotherWordIsNoTypo) {
    EXPECT_EQ(nearest("temperature", kKnown), "");
    EXPECT_EQ(nearest(std::string(65, 'm'), kKnown), "");
    EXPECT_EQ(nearest("name", {}), "");
}

}  // namespace
}  // namespace cgpu::model
