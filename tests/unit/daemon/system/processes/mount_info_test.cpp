#include "daemon/system/processes/mount_info.hpp"

#include <gtest/gtest.h>
#include <sys/sysmacros.h>
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

namespace cgpu::system {
namespace {

constexpr const char* kFolder = "/run/cgpu/instances/3f2a/link";

TEST(MountInfo, FindsAFolderByItsFileSystemAndItsPathInIt) {
    const char* text =
        "22 27 0:21 / /proc rw,relatime - proc proc rw\n"
        "158 157 0:63 /cgpu/instances/3f2a/link /run/cgpu/link rw - tmpfs tmpfs rw\n";
    EXPECT_TRUE(mounts_folder(text, makedev(0, 63), kFolder));
    EXPECT_FALSE(mounts_folder(text, makedev(0, 64), kFolder)) << "a folder of that name of somebody else's";
    EXPECT_FALSE(mounts_folder(text, makedev(0, 63), "/run/cgpu/instances/77aa/link"));
    EXPECT_FALSE(mounts_folder(text, makedev(0, 21), kFolder)) << "whole file systems say nothing";
}

TEST(MountInfo, NeedsNoLineToBeWhole) {
    EXPECT_FALSE(mounts_folder("", makedev(0, 63), kFolder));
    EXPECT_FALSE(mounts_folder("158 157", makedev(0, 63), kFolder));
    EXPECT_FALSE(mounts_folder("158 157 0:63\n\n \n", makedev(0, 63), kFolder));
    EXPECT_TRUE(mounts_folder("1 2 0:63 /instances/3f2a/link", makedev(0, 63), kFolder));
}

// A job's own mounts, as far as they matter.
constexpr const char* kOfJob =
    "128 1 254:0 / / rw - ext4 /dev/vda rw\n"
    "153 128 0:40 / /run rw - tmpfs tmpfs rw\n"
    "202 153 0:68 / /run/cgpu ro - tmpfs cgpu ro\n"
    "200 202 0:40 /cgpu/instances/3f2a/link /run/cgpu/link ro - tmpfs tmpfs rw\n"
    "201 202 254:0 /usr/lib/cgpu/module /run/cgpu/module ro - ext4 /dev/vda rw\n"
    "203 128 0:68 /front/libcuda.so.1 /usr/lib/libcuda.so.580.1 ro - tmpfs cgpu ro\n";

TEST(MountInfo, AJobAndTheHostAreNotCutOff) {
    EXPECT_FALSE(is_cut_off(kOfJob));
    EXPECT_FALSE(is_cut_off(""));
    EXPECT_FALSE(is_cut_off("128 1 254:0 / / rw - ext4 /dev/vda rw\n"))
        << "without a front nobody lacks a link";
}

TEST(MountInfo, AFrontWithoutALinkIsCutOff) {
    EXPECT_TRUE(
        is_cut_off("300 1 0:90 / / rw - tmpfs none rw\n"
                   "301 300 254:0 /usr /usr ro - ext4 /dev/vda rw\n"
                   "302 301 0:68 /front/libcuda.so.1 /usr/lib/libcuda.so.580.1 ro - tmpfs cgpu ro\n"));
    // A chroot whose root isn't a mount shows only what is below it.
    EXPECT_TRUE(is_cut_off(
        "302 301 0:68 /front/libnvidia-ml.so.1 /usr/lib/libnvidia-ml.so.580.1 ro - tmpfs cgpu ro\n"));
    EXPECT_FALSE(
        is_cut_off("302 301 0:68 /front/libcuda.so.1 /usr/lib/libcuda.so.580.1 ro - tmpfs cgpu ro\n"
                   "305 299 0:40 /cgpu/instances/3f2a/link /run/cgpu/link ro - tmpfs tmpfs rw\n"));
}

TEST(MountInfo, WhatIsCoveredDoesNotCount) {
    const std::string job = kOfJob;
    EXPECT_TRUE(is_cut_off(job + "400 153 0:91 / /run rw - tmpfs none rw\n")) << "another /run";
    EXPECT_TRUE(is_cut_off(job + "400 202 0:91 / /run/cgpu rw - tmpfs none rw\n")) << "another /run/cgpu";
    EXPECT_FALSE(is_cut_off(job +
                            "400 153 0:91 / /run rw - tmpfs none rw\n"
                            "401 400 0:40 /cgpu/instances/3f2a/link /run/cgpu/link ro - tmpfs tmpfs rw\n"))
        << "mounted there again";
    EXPECT_FALSE(is_cut_off(job + "400 153 0:91 / /run rw - tmpfs none rw\n"
                                  "401 128 0:92 / /usr rw - tmpfs none rw\n"))
        << "the front is covered, too";
    EXPECT_FALSE(is_cut_off(job + "400 153 0:91 / /run/cg rw - tmpfs none rw\n")) << "another folder";
}

// Whoever has namespaces of its own can do this. Judged in full, it would take cgpud hours.
TEST(MountInfo, ATextOfManyMountsTakesLittleTime) {
    const auto pile = [](int count) {
        std::string text;
        for (int i = 0; i < count; ++i)
            text += std::to_string(1000 + i) + " " + std::to_string(999 + i) +
                    " 0:68 /front/lib /a rw - tmpfs none rw\n";
        return text;
    };
    for (int i = 0; i < 20; ++i) {
        EXPECT_FALSE(is_cut_off(pile(4000))) << "the topmost is farther than any real one";
        EXPECT_FALSE(is_cut_off(pile(20000)));
    }
}

/// 4000 mounts, eight of them fronts that lie behind so many mounts on top of each other.
std::string fronts_behind(int depth) {
    std::string text = "1000 1 0:31 / / rw - tmpfs none rw\n";
    int id = 1000;
    const auto add = [&](int parent, const std::string& root, const std::string& point) {
        text += std::to_string(++id) + " " + std::to_string(parent) + " 0:31 " + root + " " + point +
                " rw - tmpfs none rw\n";
    };
    for (const char* way : {"/run", "/a"}) {
        add(1000, "/", way);
        for (int i = 1; i < depth; ++i) add(id, "/", way);
    }
    const int last = id;
    for (int i = 0; i < 8; ++i) add(last, "/front/lib", "/a/" + std::to_string(i));
    // The fronts are covered, so each of them is looked for.
    for (int i = 0; i < 8; ++i) add(last + 1 + i, "/", "/a/" + std::to_string(i));
    while (id < 5000) add(1000, "/", "/beside/" + std::to_string(id));
    return text;
}

/// The processor's time for a text, the least of some.
std::int64_t time_of(const std::string& text) {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (int i = 0; i < 5; ++i) {
        timespec begin{};
        timespec end{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
        EXPECT_FALSE(is_cut_off(text));
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
        least = std::min(least, (end.tv_sec - begin.tv_sec) * 1'000'000'000 + end.tv_nsec - begin.tv_nsec);
    }
    return least;
}

// Each mount on the way once took a look at all mounts: up to 50 ms of cgpud's loop for a text, and a
// user's every new namespace has one.
TEST(MountInfo, ALongWayToAMountTakesHardlyLongerThanAShortOne) {
    EXPECT_LT(time_of(fronts_behind(25)), 2 * time_of(fronts_behind(1)));
}

}  // namespace
}  // namespace cgpu::system
