#include "client/runtime/chain/next_runtime.hpp"

#include <sys/stat.h>

#include <gtest/gtest.h>

#include "tests/unit/client/support/temp_root.hpp"

namespace cgpu::runtime {
namespace {

struct NextRuntimeTest : testing::Test {
    void program(const std::string& path, mode_t mode = 0755) {
        root.file(path, "#!/bin/sh\n");
        chmod(root.at(path).c_str(), mode);
    }
    [[nodiscard]] client::Result<std::string> find() const {
        return find_next_runtime(root.at("/chosen"), {root.at("/first"), root.at("/second")});
    }
    client::TempRoot root;
};

TEST_F(NextRuntimeTest, NvidiasComesBeforeTheOthersWhereverTheyLie) {
    program("/first/crun");
    EXPECT_EQ(*find(), root.at("/first/crun"));
    program("/second/runc");
    EXPECT_EQ(*find(), root.at("/second/runc"));
    program("/second/nvidia-container-runtime");
    EXPECT_EQ(*find(), root.at("/second/nvidia-container-runtime"));
}

TEST_F(NextRuntimeTest, WhatCantBeExecutedIsPassedOver) {
    program("/first/nvidia-container-runtime", 0644);
    root.folder("/first/runc");
    EXPECT_FALSE(find());
    program("/second/runc");
    EXPECT_EQ(*find(), root.at("/second/runc"));
}

TEST_F(NextRuntimeTest, TheChosenOneWins) {
    program("/second/nvidia-container-runtime");
    program("/opt/mine");
    root.link("/chosen", "opt/mine");
    EXPECT_EQ(*find(), root.at("/chosen"));
}

TEST_F(NextRuntimeTest, AChoiceThatLeadsNowhereOrBackIsAnError) {
    program("/second/runc");
    root.link("/chosen", "nowhere");
    EXPECT_FALSE(find());
    std::filesystem::remove(root.at("/chosen"));
    root.link("/chosen", std::filesystem::canonical("/proc/self/exe").native());
    EXPECT_FALSE(find());
}

}  // namespace
}  // namespace cgpu::runtime
