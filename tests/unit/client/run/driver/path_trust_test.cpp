#include "client/run/driver/path_trust.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/client/support/temp_root.hpp"

namespace cgpu::client {
namespace {

class WritableByOthers : public ::testing::Test {
  protected:
    void SetUp() override {
        if (geteuid() != 0) GTEST_SKIP() << "only root can make files of other users";
        folder.file("/opt/a/b/file", "");
    }
    /// "": root alone.
    std::string culprit(const std::string& path) {
        return writable_by_others(*Root::open(folder.path()), path).value_or("");
    }
    void give(const std::string& path) const { ASSERT_EQ(lchown(folder.at(path).c_str(), 1000, 0), 0); }
    void mode(const std::string& path, mode_t mode) const {
        ASSERT_EQ(chmod(folder.at(path).c_str(), mode), 0);
    }

    const TempRoot folder;
};

TEST_F(WritableByOthers, IsTheFirstOnTheWay) {
    EXPECT_EQ(culprit("/opt/a/b/file"), "");
    EXPECT_EQ(culprit("//opt/./a//b/"), "");
    give("/opt/a/b/file");
    EXPECT_EQ(culprit("/opt/a/b/file"), "/opt/a/b/file");
    EXPECT_EQ(culprit("/opt/a/b"), "");
    give("/opt/a");
    EXPECT_EQ(culprit("/opt/a/b/file"), "/opt/a");
    mode("/opt", 01777);
    EXPECT_EQ(culprit("/opt/a/b/file"), "/opt") << "a sticky folder is everybody's";
    mode("/opt", 0775);
    EXPECT_EQ(culprit("/opt/a/b/file"), "/opt");
    mode("/", 0757);
    EXPECT_EQ(culprit("/opt/a/b/file"), "/");
}

TEST_F(WritableByOthers, MayBeOnTheWayOfALink) {
    folder.link("/usr/to", "../opt/a/b");
    folder.link("/usr/chain", "/usr/to/../b/file");
    EXPECT_EQ(culprit("/usr/to/file"), "");
    EXPECT_EQ(culprit("/usr/chain"), "");
    folder.link("/home/u/link", "/opt/a/b");
    give("/home/u");
    EXPECT_EQ(culprit("/home/u/link/file"), "/home/u");
    folder.link("/usr/by_home", "/home/u/link");
    EXPECT_EQ(culprit("/usr/by_home/file"), "/home/u");
    EXPECT_EQ(culprit("/usr/../home/u/../../opt/a"), "/home/u");
    // Out of the root.
    folder.link("/usr/out", "../../../../opt/a/b");
    EXPECT_EQ(culprit("/usr/out/file"), "");
}

TEST_F(WritableByOthers, WhatIsMissingOrEndlessIsNobodysToVouchFor) {
    EXPECT_EQ(culprit("/opt/none/file"), "/opt/none");
    folder.link("/usr/loop", "loop");
    EXPECT_EQ(culprit("/usr/loop"), "/usr/loop");
    folder.link("/usr/other", "/usr/another");
    folder.link("/usr/another", "/usr/other");
    EXPECT_NE(culprit("/usr/other/x"), "");
    EXPECT_EQ(culprit("/opt/a/b/file/x"), "/opt/a/b/file/x");
}

}  // namespace
}  // namespace cgpu::client
