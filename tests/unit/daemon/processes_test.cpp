#include "daemon/system/processes.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/system/event_loop.hpp"

namespace cgpu::system {
namespace {

TEST(Processes, reads_the_start_time_behind_any_name) {
    const std::string tail = " S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4242 20 21";
    EXPECT_EQ(start_time_in("1 (cat)" + tail), 4242u);
    EXPECT_EQ(start_time_in("1 (a) b) (c 9 9 9)" + tail), 4242u);
    for (const auto* wrong : {"", "1", "1 (cat", "1 (cat)", "1 (cat) S 1 2 3"})
        EXPECT_FALSE(start_time_in(wrong));
}

TEST(Processes, tells_when_one_ends) {
    EventLoop loop;
    Processes processes(loop);
    const pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    const auto name = processes.identify(child);
    ASSERT_TRUE(name) << name.error().text;
    EXPECT_TRUE(processes.alive(*name));
    int called = 0;
    const auto watch = processes.on_exit(*name, [&] {
        ++called;
        loop.stop(0);
    });
    kill(child, SIGKILL);
    loop.run();
    EXPECT_EQ(called, 1);
    // Not reaped yet: a zombie has ended all the same.
    EXPECT_FALSE(processes.alive(*name));
    waitpid(child, nullptr, 0);
    EXPECT_FALSE(processes.identify(child));
}

TEST(Processes, one_that_has_ended_already_is_told_too) {
    EventLoop loop;
    Processes processes(loop);
    const auto watch = processes.on_exit({getpid(), 1, "another boot"}, [&] { loop.stop(0); });
    EXPECT_EQ(loop.run(), 0);
}

}  // namespace
}  // namespace cgpu::system
