#include "client/runtime/hooks/container_gpus.hpp"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "client/runtime/hooks/check_hook.hpp"
#include "tests/unit/client/support/temp_root.hpp"

namespace cgpu::runtime {
namespace {

/// A process whose root is the host's, and a container's root.
struct ContainerGpusTest : testing::Test {
    ContainerGpusTest() {
        folder.folder("/c/dev/nvidia-caps");
        folder.link("/p/root", "/");
    }
    /// Below the container's root.
    void mounted(const std::string& path) {
        lines += "100 90 0:50 / " + folder.at("/c") + path + " rw,relatime - tmpfs tmpfs rw\n";
    }
    Result<GpuAccess> found() {
        folder.file("/p/mountinfo", lines);
        return gpus_in_container(folder.at("/p"), folder.at("/c"));
    }
    /// False: this machine doesn't let nodes be made.
    [[nodiscard]] bool has_node(const std::string& path, unsigned major, unsigned minor) const {
        return mknod(folder.at("/c" + path).c_str(), S_IFCHR | 0600, makedev(major, minor)) == 0;
    }
    client::TempRoot folder;
    std::string lines;
};

TEST_F(ContainerGpusTest, AnEmptyDevHasNone) {
    folder.link("/c/dev/fd", "/proc/self/fd");
    folder.link("/c/dev/loop", "/dev");
    ASSERT_TRUE(found()) << found().error().text;
    EXPECT_FALSE(found()->any());
}

TEST_F(ContainerGpusTest, TheDriverIsSeenByItsMount) {
    mounted("/usr/lib/libcuda.so.580.65.06");
    ASSERT_TRUE(found());
    EXPECT_TRUE(found()->driver_alone());
    lines = "100 90 0:50 / /usr/lib/libcuda.so.580.65.06 rw - tmpfs tmpfs rw\nno line\n";
    EXPECT_FALSE(found()->driver) << "that is the host's";
}

TEST_F(ContainerGpusTest, NodesAreSeenByTheirNumbersWhereverTheyAre) {
    if (!has_node("/dev/nvidia-caps/any-name", 195, 1)) GTEST_SKIP() << "nodes can't be made here";
    folder.folder("/c/srv");
    ASSERT_TRUE(has_node("/srv/x", 195, 3) && has_node("/srv/y", 195, 4) && has_node("/dev/z", 195, 255) &&
                has_node("/dev/null", 1, 3));
    mounted("/srv/x");
    ASSERT_TRUE(found());
    EXPECT_EQ(found()->nodes, (std::set<std::uint32_t>{1, 3})) << "4 is neither mounted nor below /dev";
    EXPECT_TRUE(found()->control);
}

TEST_F(ContainerGpusTest, WhatCannotBeLookedAtIsAnError) {
    EXPECT_FALSE(gpus_in_container(folder.at("/missing"), folder.at("/c")));
    found().value();
    EXPECT_FALSE(gpus_in_container(folder.at("/p"), folder.at("/missing")));
}

/// A bundle whose first process is this one.
struct CheckTest : testing::Test {
    ContainerState container(const std::string& config, const std::string& hooks = "{}") {
        folder.folder("/rootfs/dev");
        folder.file("/config.json", R"({"hooks":)" + hooks + config + "}");
        return {"0123456789abcdef", folder.path(), static_cast<std::uint32_t>(getpid())};
    }
    [[nodiscard]] bool has_node(unsigned minor) const {
        return mknod(folder.at("/rootfs/dev/n" + std::to_string(minor)).c_str(), S_IFCHR | 0600,
                     makedev(195, minor)) == 0;
    }
    client::TempRoot folder;
};

constexpr const char* kOpensAll = R"(,"linux":{"resources":{"devices":[{"allow":true,"access":"rwm"}]}})";
constexpr const char* kHasGpu1 = R"(,"linux":{"devices":[{"type":"c","major":195,"minor":1}]})";

TEST_F(CheckTest, TheBundleOfAContainerCounts) {
    EXPECT_FALSE(gpus_beyond(container(""), {}).value());
    EXPECT_EQ(gpus_beyond(container(kHasGpu1), {}).value()->nodes, std::set<std::uint32_t>{1});
    EXPECT_TRUE(gpus_beyond(container(kOpensAll), {}).value()->all_by_rule);
    EXPECT_FALSE(gpus_beyond(container(kHasGpu1), {{1}, false, false}).value());
    EXPECT_TRUE(gpus_beyond(container(kHasGpu1), {{0}, false, true}).value());
    EXPECT_FALSE(gpus_beyond(container(kOpensAll), {{}, true, false}).value());
}

TEST_F(CheckTest, WhatHooksHaveBroughtIntoAContainerCounts) {
    const auto plain = container("");
    if (!has_node(1)) GTEST_SKIP() << "nodes can't be made here";
    EXPECT_EQ(gpus_beyond(plain, {}).value()->nodes, std::set<std::uint32_t>{1});
    EXPECT_TRUE(check_granted_gpus(plain, {{1}, false, false}));
    const auto checked = check_granted_gpus(plain, {{0}, false, false});
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().kind, client::ClientError::Kind::refused);
    EXPECT_TRUE(checked.error().text.starts_with("the container: it has /dev/nvidia1, of which"))
        << checked.error().text;
}

TEST_F(CheckTest, AManagedContainerThatMayOpenAllIsRefusedUnlessItIsPrivileged) {
    EXPECT_FALSE(check_granted_gpus(container(kOpensAll), {{0}, false, false}));
    EXPECT_TRUE(check_granted_gpus(
        container(std::string(kOpensAll) + R"(,"process":{"capabilities":{"bounding":["CAP_SYS_ADMIN"]}})"),
        {{0}, false, false}));
}

TEST_F(CheckTest, AContainerThatCannotBeLookedAtIsRefusedIfHooksRan) {
    auto gone = container("");
    gone.pid = 0;
    EXPECT_FALSE(gpus_beyond(gone, {}).value()) << "its bundle says all";
    gone = container("", R"({"prestart":[{"path":"/any"}]})");
    gone.pid = 0;
    EXPECT_FALSE(gpus_beyond(gone, {}));
    EXPECT_FALSE(check_granted_gpus(gone, {{0}, false, false}));
}

TEST(ContainerMounts, AreThoseBelowTheRoot) {
    EXPECT_EQ(mount_below("/r/dev/nvidia0", "/r"), "/dev/nvidia0");
    EXPECT_EQ(mount_below("/r/a b\\", "/r"), "/a b\\");
    for (const char* other : {"/r", "/rr/dev", "/dev", "/", ""})
        EXPECT_EQ(mount_below(other, "/r"), "") << other;
}

}  // namespace
}  // namespace cgpu::runtime
