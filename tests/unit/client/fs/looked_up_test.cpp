#include "client/fs/looked_up.hpp"

#include <gtest/gtest.h>

#include "tests/unit/client/support/fake_node.hpp"

namespace cgpu::fs {
namespace {

using Folders = std::vector<std::string>;

TEST(LookedUp, WhatIsGoneIsTakenOnce) {
    cgpuctl::FakeNode node;
    const std::string living = "/0/" + std::string(cgpuctl::kWebId).substr(0, 12);
    LookedUp looked_up;
    looked_up.add(living + "/weight");
    looked_up.add("/0/012345678901");
    looked_up.add("/0/012345678901/memsize");
    looked_up.add("/0/abcdefabcdef/id");
    looked_up.add("/version");
    EXPECT_EQ(looked_up.take_gone(node.snapshot), (Folders{"/0/012345678901", "/0/abcdefabcdef"}));
    EXPECT_EQ(looked_up.take_gone(node.snapshot), Folders{});
    node.snapshot.instances.clear();
    EXPECT_EQ(looked_up.take_gone(node.snapshot), Folders{living});
}

TEST(LookedUp, ItIsTimeAfterManyNewOnesOnly) {
    LookedUp looked_up;
    const auto add = [&](std::size_t number) {
        return looked_up.add("/0/" + std::to_string(100'000'000'000 + number) + "/id");
    };
    for (std::size_t i = 0; i + 1 < LookedUp::kMany; ++i) {
        EXPECT_FALSE(add(i));
        EXPECT_FALSE(add(i));
    }
    EXPECT_TRUE(add(LookedUp::kMany));
    EXPECT_FALSE(looked_up.take_gone({}).empty());
    EXPECT_FALSE(add(0));
}

}  // namespace
}  // namespace cgpu::fs
