#pragma once

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <filesystem>

/// Processes that have a folder mounted.
namespace cgpu::system::test {

/// A child that also ends if the test fails.
[[noreturn]] inline void pause_until_killed() {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) pause();
}

/// A child that has the folder mounted, on /mnt of a mount namespace of its own.
inline pid_t fork_with_mount(const std::filesystem::path& folder) {
    std::array<int, 2> ready{};
    EXPECT_EQ(pipe(ready.data()), 0);
    const pid_t child = fork();
    if (child == 0) {
        const bool mounted = unshare(CLONE_NEWNS) == 0 &&
                             mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                             mount(folder.c_str(), "/mnt", nullptr, MS_BIND, nullptr) == 0;
        const char said = mounted ? 'y' : 'n';
        [[maybe_unused]] const auto written = write(ready[1], &said, 1);
        pause_until_killed();
    }
    char said = 0;
    EXPECT_EQ(read(ready[0], &said, 1), 1);
    EXPECT_EQ(said, 'y');
    close(ready[0]);
    close(ready[1]);
    return child;
}

}  // namespace cgpu::system::test
