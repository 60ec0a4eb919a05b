#include "daemon/link/instance/instance_folder.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "tests/unit/daemon/support/temp_folder.hpp"

namespace cgpu::link {
namespace {

constexpr uid_t kMaker = 4711;
constexpr uid_t kOther = 65534;

class InstanceFolderTest : public ::testing::Test {
  protected:
    InstanceFolderTest() {
        EXPECT_EQ(chmod(temp_.path().c_str(), 0755), 0);
        path_ = temp_.path() / "instances" / "one";
    }
    void SetUp() override {
        if (geteuid() != 0) GTEST_SKIP() << "only root can be other users";
    }
    InstanceFolder open() {
        auto folder = InstanceFolder::open(path_);
        EXPECT_TRUE(folder) << folder.error().text;
        std::filesystem::create_directory(path_ / "link");
        const std::ofstream socket(path_ / "link" / "socket");
        return std::move(*folder);
    }
    /// Whether this user can reach the socket in the folder's link.
    [[nodiscard]] bool reached_by(uid_t user) const {
        const auto socket = path_ / "link" / "socket";
        const pid_t child = fork();
        if (child == 0) _exit(setresuid(user, user, user) == 0 && access(socket.c_str(), F_OK) == 0 ? 0 : 1);
        int status = 0;
        return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }

    cgpu::test::TempFolder temp_;
    std::filesystem::path path_;
};

TEST_F(InstanceFolderTest, is_closed_to_other_users) {
    open();
    EXPECT_TRUE(reached_by(0));
    EXPECT_FALSE(reached_by(kMaker));
    EXPECT_FALSE(reached_by(kOther));
}

TEST_F(InstanceFolderTest, is_open_to_those_who_were_let_in) {
    auto folder = open();
    const auto done = folder.let_in(kMaker);
    ASSERT_TRUE(done) << done.error().text;
    EXPECT_TRUE(reached_by(kMaker));
    EXPECT_FALSE(reached_by(kOther));
    ASSERT_TRUE(folder.let_in(kMaker + 1));
    EXPECT_TRUE(reached_by(kMaker));
    EXPECT_TRUE(reached_by(kMaker + 1));
    EXPECT_FALSE(reached_by(kOther));
}

TEST_F(InstanceFolderTest, keeps_them_over_a_restart) {
    auto before = open();
    ASSERT_TRUE(before.let_in(kMaker));
    auto after = open();
    EXPECT_TRUE(reached_by(kMaker));
    EXPECT_FALSE(reached_by(kOther));
    ASSERT_TRUE(after.let_in(kMaker + 1));
    EXPECT_TRUE(reached_by(kMaker));
}

TEST_F(InstanceFolderTest, closes_one_of_a_release_that_left_it_open) {
    std::filesystem::create_directories(path_);
    ASSERT_EQ(chmod(path_.c_str(), 0755), 0);
    open();
    EXPECT_FALSE(reached_by(kOther));
}

}  // namespace
}  // namespace cgpu::link
