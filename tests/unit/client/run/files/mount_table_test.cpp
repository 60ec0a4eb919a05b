#include "client/run/files/mount_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace cgpu::client {
namespace {

using Mounts = std::vector<Mount>;

TEST(MountTable, ReadsIdPointPropagationAndWhatIsShown) {
    EXPECT_EQ(read_mounts("36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue\n"
                          "41 35 0:21 / /run rw shared:7 master:2 - tmpfs tmpfs rw\n"),
              (Mounts{{36, "/mnt2", false, true, "98:0", "/mnt1"}, {41, "/run", true, true, "0:21", "/"}}));
}

TEST(MountTable, WhatStandsBehindTheDashSaysNothingOfPropagation) {
    EXPECT_EQ(read_mounts("36 35 98:0 / /a rw - fuse shared:1 rw\n"),
              (Mounts{{36, "/a", false, false, "98:0", "/"}}));
}

TEST(MountTable, ReadsBlanksAndBackslashesInNames) {
    EXPECT_EQ(read_mounts(R"(1 2 0:3 / /a\040b\134c\011d rw - tmpfs x rw)").at(0).point, "/a b\\c\td");
    EXPECT_EQ(read_mounts(R"(1 2 0:3 /a\040b /c rw - tmpfs x rw)").at(0).root, "/a b");
    EXPECT_EQ(read_mounts(R"(1 2 0:3 / /a\9\04 rw - tmpfs x rw)").at(0).point, R"(/a\9\04)");
}

TEST(MountTable, OnlyBlanksEndAWord) {
    // The kernel doesn't escape these.
    EXPECT_EQ(read_mounts("1 2 0:3 / /a\rb\f-\vc rw shared:7 - tmpfs x rw\n"),
              (Mounts{{1, "/a\rb\f-\vc", true, false, "0:3", "/"}}));
}

TEST(MountTable, LeavesOutWhatIsNoMount) { EXPECT_EQ(read_mounts("\nx\n1 2 3\n-\n"), Mounts{}); }

TEST(MountTable, OfThisProcessHasItsRoot) {
    const auto mounts = mounts_here();
    EXPECT_TRUE(
        std::any_of(mounts.begin(), mounts.end(), [](const Mount& mount) { return mount.point == "/"; }));
}

}  // namespace
}  // namespace cgpu::client
