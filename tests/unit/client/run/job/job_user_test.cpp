#include "client/run/job/job_user.hpp"

#include <grp.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

namespace cgpu::client {
namespace {

std::optional<JobUser> user(std::string_view asked, const Variables& environment) {
    const auto found = job_user(asked, environment);
    EXPECT_TRUE(found) << found.error().text;
    return found.value_or(std::nullopt);
}

TEST(JobUser, IsWhoCalledSudo) {
    EXPECT_FALSE(user("", {}));
    EXPECT_FALSE(user("", {{"SUDO_UID", "0"}, {"SUDO_GID", "0"}})) << "root called it";
    const auto nobody = user("", {{"SUDO_UID", "65534"}, {"SUDO_GID", "65534"}});
    ASSERT_TRUE(nobody);
    EXPECT_EQ(nobody->uid, 65534U);
    EXPECT_EQ(nobody->name, "nobody");
    EXPECT_EQ(user("", {{"PKEXEC_UID", "65534"}})->uid, 65534U);
}

TEST(JobUser, OfSudoNeedNotBeKnown) {
    const auto unknown = user("", {{"SUDO_UID", "54321"}, {"SUDO_GID", "54322"}});
    ASSERT_TRUE(unknown);
    EXPECT_EQ(unknown->uid, 54321U);
    EXPECT_EQ(unknown->gid, 54322U);
    EXPECT_EQ(unknown->name, "");
}

TEST(JobUser, ThatIsAskedForWins) {
    const Variables sudo{{"SUDO_UID", "54321"}, {"SUDO_GID", "54321"}};
    EXPECT_EQ(user("nobody", sudo)->uid, 65534U);
    EXPECT_EQ(user("65534", sudo)->name, "nobody");
    EXPECT_FALSE(user("root", sudo));
    EXPECT_FALSE(user("0", sudo));
}

TEST(JobUser, NoSuchUserIsRefused) {
    for (const char* name : {"no-such-user", "54321", "-1", "4294967295", "0x10", " 0"}) {
        const auto refused = job_user(name, {});
        ASSERT_FALSE(refused) << name;
        EXPECT_EQ(refused.error().kind, ClientError::Kind::usage);
        EXPECT_NE(refused.error().text.find("Try: "), std::string::npos);
    }
    for (const char* odd : {"", "-1", "4294967295", "1 ", "99999999999"})
        EXPECT_FALSE(user("", {{"SUDO_UID", odd}})) << odd;
}

/// The exit status of a child.
template <class Body>
int in_child(Body body) {
    const pid_t child = fork();
    if (child == 0) _exit(body());
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

TEST(JobUser, NothingOfRootIsLeft) {
    if (geteuid() != 0) GTEST_SKIP() << "takes root";
    EXPECT_EQ(in_child([] {
                  const JobUser unknown{54321, 54322, {}, {}, {}};
                  setenv("HOME", "/before", 1);
                  if (!become(unknown)) return 1;
                  uid_t real = 0, effective = 0, saved = 0;
                  getresuid(&real, &effective, &saved);
                  if (real != 54321 || effective != 54321 || saved != 54321) return 2;
                  gid_t group = 0, effective_group = 0, saved_group = 0;
                  getresgid(&group, &effective_group, &saved_group);
                  if (group != 54322 || effective_group != 54322 || saved_group != 54322) return 3;
                  std::array<gid_t, 8> groups{};
                  if (getgroups(8, groups.data()) != 1 || groups[0] != 54322) return 4;
                  if (setuid(0) == 0 || setgroups(0, nullptr) == 0) return 5;
                  return getenv("HOME") == std::string_view("/before") ? 0 : 6;
              }),
              0);
    EXPECT_EQ(in_child([] {
                  if (!become(*user("nobody", {}))) return 1;
                  if (getenv("USER") != std::string_view("nobody")) return 2;
                  const auto again = become({0, 0, {}, {}, {}});
                  return !again && again.error().kind == ClientError::Kind::not_authorized ? 0 : 3;
              }),
              0);
}

}  // namespace
}  // namespace cgpu::client
