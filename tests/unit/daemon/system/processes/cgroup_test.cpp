#include "daemon/system/processes/cgroup.hpp"

#include <gtest/gtest.h>

namespace cgpu::system {
namespace {

constexpr auto* kId = "3f2a0123456789ab";

TEST(Cgroup, IsWhatWasMadeForTheContainerOrTheJob) {
    EXPECT_EQ(cgroup_made_for("0::/docker/3f2a0123456789ab\n", kId), "/docker/3f2a0123456789ab");
    EXPECT_EQ(cgroup_made_for("0::/system.slice/docker-3f2a0123456789ab77.scope/init.scope\n", kId),
              "/system.slice/docker-3f2a0123456789ab77.scope");
    EXPECT_EQ(cgroup_made_for("0::/user.slice/user@1.service/cgpu-job-3f2a01234567.scope", "3f2a01234567"),
              "/user.slice/user@1.service/cgpu-job-3f2a01234567.scope");
    const auto* first_version =
        "12:devices:/docker/3f2a0123456789ab\n1:name=systemd:/docker/3f2a0123456789ab\n0::/\n";
    EXPECT_EQ(cgroup_made_for(first_version, kId), "/docker/3f2a0123456789ab");
}

TEST(Cgroup, OfASessionOrServiceIsNotTheJobsOwn) {
    EXPECT_EQ(cgroup_made_for("0::/user.slice/user-1000.slice/session-1.scope", kId), "");
    EXPECT_EQ(cgroup_made_for("", kId), "");
    EXPECT_EQ(cgroup_made_for("no colons\n:\n::\n", kId), "");
}

// Found as a user's instance that had all processes of a service for its own: its id began with the digits
// that systemd-run had drawn for that.
TEST(Cgroup, OfAServiceIsNotOfTheIdThatItsNameHas) {
    for (const auto* path :
         {"/system.slice/run-r3f2a0123456789ab.service", "/system.slice/run-r3f2a0123456789ab.scope",
          "/system.slice/backup-3f2a0123456789ab.service", "/x/pod3f2a0123456789ab.slice",
          "/x/docker-3f2a0123456789ab.scope.d", "/x/docker-3f2a0123456789abx.scope",
          "/x/docker-773f2a0123456789ab.scope"})
        EXPECT_EQ(cgroup_made_for(std::string("0::") + path + "\n", kId), "") << path;
    EXPECT_EQ(
        cgroup_made_for("0::/a/run-r3f2a0123456789ab.scope/libpod-3f2a0123456789ab.scope/container\n", kId),
        "/a/run-r3f2a0123456789ab.scope/libpod-3f2a0123456789ab.scope");
}

// Users choose the ids of their instances.
TEST(Cgroup, AnIdThatIsNoNumberMakesNone) {
    const auto* session = "0::/user.slice/user-1000.slice/session-1.scope";
    for (const auto* id : {"user-1000.slice", "user.slice/u", "session-1.sc", "", "/", "1000"})
        EXPECT_EQ(cgroup_made_for(session, id), "") << id;
    EXPECT_EQ(cgroup_made_for("0::/a1000/b", "1000"), "") << "too short";
}

TEST(Cgroup, HasThoseInItAndBelow) {
    constexpr auto* kOwn = "/docker/3f2a0123456789ab";
    EXPECT_TRUE(is_in_cgroup("0::/docker/3f2a0123456789ab", kOwn));
    EXPECT_TRUE(is_in_cgroup("0::/docker/3f2a0123456789ab/inner\n", kOwn));
    EXPECT_TRUE(is_in_cgroup("4:memory:/docker/3f2a0123456789ab\n0::/\n", kOwn));
    EXPECT_FALSE(is_in_cgroup("0::/docker/3f2a0123456789ab77", kOwn)) << "another container";
    EXPECT_FALSE(is_in_cgroup("0::/docker", kOwn));
    EXPECT_FALSE(is_in_cgroup("0::/user.slice/docker/3f2a0123456789ab", kOwn));
    EXPECT_FALSE(is_in_cgroup("", kOwn));
    EXPECT_FALSE(is_in_cgroup("0::/docker", "")) << "no cgroup of its own";
}

}  // namespace
}  // namespace cgpu::system
