#include "daemon/system/processes/mount_info.hpp"

#include <gtest/gtest.h>
#include <sys/sysmacros.h>

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

}  // namespace
}  // namespace cgpu::system
