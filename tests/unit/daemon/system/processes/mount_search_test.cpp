#include "daemon/system/processes/mount_search.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <optional>

#include "daemon/system/event_loop.hpp"
#include "daemon/system/processes/processes.hpp"
#include "tests/unit/daemon/support/temp_folder.hpp"
#include "tests/unit/daemon/system/processes/mounted_child.hpp"

namespace cgpu::system {
namespace {

using test::fork_with_mount;
using test::fork_with_mounts;
using test::pause_until_killed;

std::optional<model::Process> first_to_see(const std::filesystem::path& folder,
                                           const std::vector<std::int32_t>& others = {}) {
    EventLoop loop;  // runs once
    Processes processes(loop);
    std::vector<model::Process> known;
    known.reserve(others.size());
    for (const auto pid : others) known.push_back(processes.identify(pid).value());
    std::optional<model::Process> first;
    bool called = false;
    const auto search = processes.find_first_to_see(folder, known, [&](const auto& found) {
        first = found;
        called = true;
        loop.stop(0);
    });
    EXPECT_FALSE(called) << "before it returned";
    loop.run();
    return first;
}

/// Goes to the background again and again, as a daemon does twice: of the processes one always lives, and
/// each only for a moment.
[[noreturn]] void go_to_the_background(const std::filesystem::path& folder, int ready) {
    const bool mounted = unshare(CLONE_NEWNS) == 0 &&
                         mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                         mount(folder.c_str(), "/mnt", nullptr, MS_BIND, nullptr) == 0;
    const char said = mounted ? 'y' : 'n';
    [[maybe_unused]] const auto written = write(ready, &said, 1);
    for (;;) {
        if (fork() > 0) _exit(0);
        usleep(1000);
    }
}

TEST(MountSearch, finds_one_of_those_that_go_to_the_background_while_it_looks) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can mount";
    const cgpu::test::TempFolder folder;
    const auto seen = folder.path() / "link";
    std::filesystem::create_directory(seen);
    std::array<int, 2> ready{};
    ASSERT_EQ(pipe(ready.data()), 0);
    const pid_t child = fork();
    if (child == 0) {
        // Their parent from then on, which takes what is left of them away, and ends them in the end.
        setsid();
        signal(SIGCHLD, SIG_IGN);
        prctl(PR_SET_CHILD_SUBREAPER, 1UL);
        if (fork() == 0) go_to_the_background(seen, ready[1]);
        pause_until_killed();
    }
    char said = 0;
    ASSERT_EQ(read(ready[0], &said, 1), 1);
    ASSERT_EQ(said, 'y');
    int found = 0;
    for (int i = 0; i < 20; ++i) found += first_to_see(seen) ? 1 : 0;
    EXPECT_EQ(found, 20);
    kill(-child, SIGKILL);
    waitpid(child, nullptr, 0);
    close(ready[0]);
    close(ready[1]);
}

TEST(MountSearch, finds_the_first_of_those_that_have_a_folder_mounted) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can mount";
    const cgpu::test::TempFolder folder;
    const auto seen = folder.path() / "link";
    std::filesystem::create_directory(seen);
    EXPECT_FALSE(first_to_see(seen)) << "nobody has it mounted";
    const std::array children{fork_with_mount(seen), fork_with_mount(seen)};
    for (const auto child : children) {
        const auto first = first_to_see(seen);
        EXPECT_EQ(first ? first->pid : 0, child);
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
    }
    EXPECT_FALSE(first_to_see(seen));
    EXPECT_FALSE(first_to_see(folder.path() / "not there"));
}

/// What isn't read isn't found, so all of these have it mounted.
TEST(MountSearch, reads_no_mounts_of_those_that_are_known_to_be_others) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can mount";
    const cgpu::test::TempFolder folder;
    const auto seen = folder.path() / "link";
    std::filesystem::create_directory(seen);
    const auto other = fork_with_mount(seen);
    EXPECT_FALSE(first_to_see(seen, {other}));
    const auto member = fork_with_mount(seen);
    const auto first = first_to_see(seen, {other});
    EXPECT_EQ(first ? first->pid : 0, member);
    for (const auto child : {other, member}) {
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
    }
}

/// A process of another job that has the mounts of that job's first process.
TEST(MountSearch, reads_no_mounts_that_others_have_where_there_are_many) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can mount";
    const cgpu::test::TempFolder folder;
    const auto seen = folder.path() / "link";
    std::filesystem::create_directory(seen);
    std::vector<pid_t> children;
    children.reserve(21);
    for (int i = 0; i < 20; ++i) children.push_back(fork_with_mounts([] { return true; }));
    // Forked last, so that the search comes to them when it knows many mount namespaces.
    const auto other = fork_with_mounts([&] {
        return mount(seen.c_str(), "/mnt", nullptr, MS_BIND, nullptr) == 0 &&
               (fork() > 0 || (pause_until_killed(), true));
    });
    children.push_back(other);
    EXPECT_TRUE(first_to_see(seen));
    EXPECT_FALSE(first_to_see(seen, {other}));
    for (const auto child : children) {
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
    }
}

}  // namespace
}  // namespace cgpu::system
