#include "client/run/files/mount_table.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>

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
    ASSERT_TRUE(mounts);
    EXPECT_TRUE(
        std::any_of(mounts->begin(), mounts->end(), [](const Mount& mount) { return mount.point == "/"; }));
}

/// The reading end of a pipe that has a line, and whose writing end is closed or stays open.
struct Pipe {
    explicit Pipe(bool ends) {
        std::array<int, 2> both{};
        EXPECT_EQ(pipe2(both.data(), O_CLOEXEC | O_NONBLOCK), 0);
        out = Descriptor(both[0]);
        in = Descriptor(both[1]);
        const std::string line = "1 2 0:3 / /a rw - tmpfs x rw\n";
        EXPECT_EQ(write(in.fd(), line.data(), line.size()), static_cast<ssize_t>(line.size()));
        if (ends) in = Descriptor();
    }
    Descriptor out, in;
};

TEST(MountTable, IsReadWholeOrNotAtAll) {
    const auto read = read_mount_table(Pipe(true).out);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->size(), 1U);
    // The second read of it fails (EAGAIN).
    const Pipe open(false);
    const auto failed = read_mount_table(open.out);
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().text,
              "the table of mounts: it can't be read (Resource temporarily unavailable). Try: check whether "
              "/proc is mounted.");
    EXPECT_FALSE(read_mount_table("/proc/self/no-such-file"));
    EXPECT_FALSE(read_mount_table("/proc/self"));
}

}  // namespace
}  // namespace cgpu::client
