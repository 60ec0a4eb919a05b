#pragma once

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <functional>

/// Processes that have a folder mounted.
namespace cgpu::system::test {

/// A child that also ends if the test fails.
[[noreturn]] inline void pause_until_killed() {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) pause();
}

/// A child in a mount namespace of its own, in which `make_mounts` has made what it says; it returns whether
/// it could.
inline pid_t fork_with_mounts(const std::function<bool()>& make_mounts) {
    std::array<int, 2> ready{};
    EXPECT_EQ(pipe(ready.data()), 0);
    const pid_t child = fork();
    if (child == 0) {
        const bool mounted = unshare(CLONE_NEWNS) == 0 &&
                             mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 && make_mounts();
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

/// A child that has the folder mounted, on /mnt.
inline pid_t fork_with_mount(const std::filesystem::path& folder) {
    return fork_with_mounts([&] { return mount(folder.c_str(), "/mnt", nullptr, MS_BIND, nullptr) == 0; });
}

}  // namespace cgpu::system::test
