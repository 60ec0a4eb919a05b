#include "daemon/system/processes/process_look.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/system/event_loop.hpp"
#include "daemon/system/processes/processes.hpp"
#include "tests/unit/daemon/system/processes/mounted_child.hpp"

namespace cgpu::system {
namespace {

TEST(ProcessLook, knows_nothing_of_a_process_that_ended_before_it_was_asked) {
    EventLoop loop;
    Processes processes(loop);
    const auto self = *processes.identify(getpid());
    const pid_t child = fork();
    if (child == 0) test::pause_until_killed();
    const auto its = *processes.identify(child);
    const ProcessLook asked_before(processes, its);
    const ProcessLook asked_after(processes, its);
    EXPECT_TRUE(asked_before.descends(self));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    EXPECT_TRUE(asked_before.descends(self)) << "that was read once";
    EXPECT_FALSE(asked_before.is_in_cgroup("/"));
    EXPECT_FALSE(asked_before.sees("/"));
    EXPECT_FALSE(asked_after.descends(self));
}

}  // namespace
}  // namespace cgpu::system
