#include "client/runtime/chain/low_level_runtime.hpp"

#include <sys/stat.h>

#include <gtest/gtest.h>

#include <cstdlib>

#include "client/runtime/chain/programs.hpp"
#include "tests/unit/client/support/temp_root.hpp"

namespace cgpu::runtime {
namespace {

struct LowLevelRuntimeTest : testing::Test {
    void program(const std::string& path) const {
        root.file(path, "#!/bin/sh\n");
        chmod(root.at(path).c_str(), 0755);
    }
    client::TempRoot root;
};

TEST_F(LowLevelRuntimeTest, IsMeantWhereOneOfTheLinksWasCalled) {
    EXPECT_EQ(low_level_name(low_level_folder() + "/runc"), "runc");
    EXPECT_EQ(low_level_name(low_level_folder() + "/crun"), "crun");
    for (const char* other : {"cgpu-runtime", "/usr/bin/cgpu-runtime", "runc", "", "/usr/sbin/runc"})
        EXPECT_EQ(low_level_name(other), std::nullopt) << other;
}

TEST_F(LowLevelRuntimeTest, IsTheFirstAlongPathThatIsNotCgpus) {
    program("/b/cgpu-test-runtime");
    program("/c/cgpu-test-runtime");
    root.link("/a/cgpu-test-runtime", std::filesystem::canonical("/proc/self/exe").native());
    const std::string path =
        low_level_folder() + ":" + root.at("/a") + "::" + root.at("/b") + ":" + root.at("/c");
    EXPECT_EQ(*find_low_level_runtime("cgpu-test-runtime", path), root.at("/b/cgpu-test-runtime"));
    const auto none = find_low_level_runtime("cgpu-test-runtime", root.at("/a"));
    ASSERT_FALSE(none);
    EXPECT_TRUE(none.error().text.starts_with("cgpu-test-runtime: NVIDIA's runtime wants it"));
}

TEST_F(LowLevelRuntimeTest, TheUsualFoldersAreLookedInWhateverPathSays) {
    EXPECT_TRUE(find_low_level_runtime("sh", ""));
}

TEST_F(LowLevelRuntimeTest, TheFolderComesFirst) {
    const char* before = std::getenv("PATH");
    const std::string kept = before == nullptr ? "" : before;
    setenv("PATH", "/a:/b", 1);
    stand_before_low_level_runtimes();
    EXPECT_EQ(std::string(std::getenv("PATH")), low_level_folder() + ":/a:/b");
    unsetenv("PATH");
    stand_before_low_level_runtimes();
    EXPECT_EQ(std::string(std::getenv("PATH")), low_level_folder());
    setenv("PATH", kept.c_str(), 1);
}

}  // namespace
}  // namespace cgpu::runtime
