#include "client/run/job/job_scope.hpp"

#include <gtest/gtest.h>

namespace cgpu::client {
namespace {

using Slice = std::optional<std::string>;

TEST(JobScope, a_login_session_s_job_goes_into_the_slice_of_its_user) {
    EXPECT_EQ(slice_for_job("0::/user.slice/user-1000.slice/session-4.scope\n"), Slice("user-1000.slice"));
    EXPECT_EQ(slice_for_job("0::/user.slice/user-0.slice/session-c12.scope\n"), Slice("user-0.slice"));
}

TEST(JobScope, so_does_what_the_user_s_own_systemd_has_started) {
    EXPECT_EQ(
        slice_for_job("0::/user.slice/user-1000.slice/user@1000.service/app.slice/tmux-spawn-1.scope\n"),
        Slice("user-1000.slice"));
}

TEST(JobScope, cgroup_v1_has_a_hierarchy_of_systemd_s) {
    EXPECT_EQ(slice_for_job(
                  "12:memory:/user.slice\n1:name=systemd:/user.slice/user-7.slice/session-1.scope\n0::/\n"),
              Slice("user-7.slice"));
    EXPECT_EQ(slice_for_job("1:name=systemd:/../..\n0::/user.slice/user-7.slice/session-1.scope\n"),
              Slice("user-7.slice"))
        << "a machine of cgroup v2 in one of v1";
}

TEST(JobScope, what_belongs_to_something_else_stays_there) {
    for (const char* cgroups :
         {"", "\n", "0::/\n", "0::/init.scope\n", "0::/system.slice/train.service\n", "0::/../..\n",
          "0::/system.slice/slurmstepd.scope/job_12/step_0\n", "0::/system.slice/docker-0123.scope\n",
          "0::/user.slice/user-1000.slice\n", "0::/user.slice/user-1000.slice/cgpu-job-0123456789ab.scope\n",
          "0::/user.slice/user-1000.slice/session-4.scope/container/init\n",
          "0::/user.slice/session-4.scope\n", "0::/user.slice/user-.slice/session-4.scope\n",
          "0::/user.slice/user-1.slice/session-.scope\n",
          "4:memory:/user.slice/user-1000.slice/session-4.scope\n"})
        EXPECT_EQ(slice_for_job(cgroups), std::nullopt) << cgroups;
}

TEST(JobScope, is_named_after_the_instance) {
    EXPECT_EQ(scope_name("0123456789abcdef0123456789abcdef"), "cgpu-job-0123456789ab.scope");
}

}  // namespace
}  // namespace cgpu::client
