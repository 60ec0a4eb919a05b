#include "daemon/system/processes/processes.hpp"

#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>

#include "daemon/system/event_loop.hpp"
#include "tests/unit/daemon/support/temp_folder.hpp"
#include "tests/unit/daemon/system/processes/mounted_child.hpp"

namespace cgpu::system {
namespace {

using test::fork_with_mount;
using test::pause_until_killed;

TEST(Processes, reads_the_start_time_behind_any_name) {
    const std::string tail = " S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4242 20 21";
    EXPECT_EQ(start_time_in("1 (cat)" + tail), 4242u);
    EXPECT_EQ(start_time_in("1 (a) b) (c 9 9 9)" + tail), 4242u);
    for (const auto* wrong : {"", "1", "1 (cat", "1 (cat)", "1 (cat) S 1 2 3"})
        EXPECT_FALSE(start_time_in(wrong));
}

TEST(Processes, does_not_take_the_lack_of_a_descriptor_for_that_of_a_process) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can mount";
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP()
        << "the sanitizer's look at an object takes descriptors, too, and takes their lack for a fault";
#endif
    EventLoop loop;
    Processes processes(loop);
    const cgpu::test::TempFolder folder;
    const pid_t child = fork_with_mount(folder.path());
    const int highest = open("/dev/null", O_RDONLY | O_CLOEXEC);
    rlimit before{};
    getrlimit(RLIMIT_NOFILE, &before);
    rlimit none = before;
    none.rlim_cur = static_cast<rlim_t>(highest);
    std::optional<model::Process> first;
    const auto search = processes.find_first_to_see(folder.path(), {}, [&](const auto& found) {
        first = found;
        loop.stop(0);
    });
    // The first search has no descriptor, a later one has some.
    setrlimit(RLIMIT_NOFILE, &none);
    close(highest);
    const int taken = open("/dev/null", O_RDONLY | O_CLOEXEC);
    const auto later = loop.at(loop.now() + 100'000'000, [&] { setrlimit(RLIMIT_NOFILE, &before); });
    loop.run();
    EXPECT_EQ(first ? first->pid : 0, child);
    close(taken);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
}

TEST(Processes, says_so_where_proc_hides_other_users_processes) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can mount a /proc";
    const pid_t child = fork();
    if (child == 0) {
        if (unshare(CLONE_NEWNS) != 0 || mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
            mount("proc", "/proc", "proc", 0, "hidepid=2") != 0)
            _exit(77);
        EventLoop loop;
        Processes processes(loop);
        const auto self = processes.identify(getppid());
        if (!self || setgroups(0, nullptr) != 0 || setresgid(65534, 65534, 65534) != 0 ||
            setresuid(65534, 65534, 65534) != 0)
            _exit(1);
        const auto hidden = processes.identify(getppid());
        if (hidden || hidden.error().reason != model::Refusal::Reason::busy) _exit(2);
        if (hidden.error().text.find("hidepid") == std::string::npos) _exit(3);
        if (!processes.alive(*self)) _exit(4);  // nothing of its may be taken away
        const auto none = processes.identify(std::numeric_limits<std::int32_t>::max());
        _exit(!none && none.error().reason == model::Refusal::Reason::not_found ? 0 : 5);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "no /proc can be mounted here";
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Processes, reads_the_effective_user) {
    EXPECT_EQ(effective_user_in("Name:\tx\nUid:\t1000\t0\t1000\t1000\nGid:\t5\t5\t5\t5\n"), 0U);
    EXPECT_EQ(effective_user_in("Name:\tx\nUid:\t1\t4294967294\t1\t1\n"), 4294967294U);
    for (const auto* wrong : {"", "Uid:\t1\t2", "\nUid:\t", "\nUid:\t1", "\nUid:\t1\t", "\nUid:\t1\tx"})
        EXPECT_FALSE(effective_user_in(wrong)) << wrong;
}

TEST(Processes, knows_user_and_parent_of_a_process) {
    EventLoop loop;
    Processes processes(loop);
    const auto self = *processes.identify(getpid());
    EXPECT_EQ(processes.user_of(self), geteuid());
    EXPECT_EQ(processes.parent_of(self), getppid());
    EXPECT_EQ(processes.owner_of(self).user, geteuid());
    std::array<char, 17> before{};
    prctl(PR_GET_NAME, before.data());
    prctl(PR_SET_NAME, "a) name\n");
    EXPECT_EQ(processes.owner_of(self).command, "a) name\n");
    prctl(PR_SET_NAME, before.data());
    auto other = self;
    ++other.start_time;
    EXPECT_FALSE(processes.owner_of(other).user);
    EXPECT_EQ(processes.owner_of(other).command, "");
    EXPECT_FALSE(processes.user_of(other));
    EXPECT_EQ(processes.parent_of(other), 0);
}

TEST(Processes, tells_when_one_ends) {
    EventLoop loop;
    Processes processes(loop);
    const pid_t child = fork();
    if (child == 0) pause_until_killed();
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
    // Not reaped yet: a zombie counts as ended.
    EXPECT_FALSE(processes.alive(*name));
    waitpid(child, nullptr, 0);
    EXPECT_FALSE(processes.identify(child));
}

TEST(Processes, one_whose_main_thread_has_ended_lives_on) {
    EventLoop loop;
    Processes processes(loop);
    std::array<int, 2> ready{};
    ASSERT_EQ(pipe(ready.data()), 0);
    const pid_t child = fork();
    if (child == 0) {
        pthread_t thread{};
        pthread_create(
            &thread, nullptr,
            [](void*) -> void* {
                pause();
                return nullptr;
            },
            nullptr);
        (void)!write(ready[1], "x", 1);
        syscall(SYS_exit, 0);  // this thread only
    }
    char byte = 0;
    ASSERT_EQ(read(ready[0], &byte, 1), 1);
    const auto state_of = [&] {
        std::ifstream file("/proc/" + std::to_string(child) + "/stat");
        const std::string text{std::istreambuf_iterator<char>(file), {}};
        return text.at(text.rfind(')') + 2);
    };
    const auto deadline = loop.now() + 20'000'000'000;
    while (state_of() != 'Z' && loop.now() < deadline) usleep(1000);
    EXPECT_TRUE(processes.identify(child));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    EXPECT_FALSE(processes.identify(child));
    close(ready[0]);
    close(ready[1]);
}

TEST(Processes, waits_for_one_even_without_a_descriptor_left) {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP()
        << "the sanitizer's look at an object takes descriptors, too, and takes their lack for a fault";
#endif
    EventLoop loop;
    Processes processes(loop);
    const pid_t child = fork();
    if (child == 0) pause_until_killed();
    const auto name = processes.identify(child);
    ASSERT_TRUE(name);
    rlimit before{};
    getrlimit(RLIMIT_NOFILE, &before);
    // Reading /proc needs one descriptor: the pidfd finds none free, the read of /proc finds one again.
    const int highest = open("/dev/null", O_RDONLY | O_CLOEXEC);
    rlimit few = before;
    few.rlim_cur = static_cast<rlim_t>(highest);
    setrlimit(RLIMIT_NOFILE, &few);
    bool called = false;
    const auto watch = processes.on_exit(*name, [&] {
        called = true;
        loop.stop(0);
    });
    setrlimit(RLIMIT_NOFILE, &before);
    close(highest);
    EXPECT_FALSE(called);
    kill(child, SIGKILL);
    loop.run();
    EXPECT_TRUE(called);
    waitpid(child, nullptr, 0);
}

/// Linux 6.15 or later.
bool kernel_tells_how_processes_end() {
    utsname name{};
    int major = 0;
    int minor = 0;
    return uname(&name) == 0 && std::sscanf(name.release, "%d.%d", &major, &minor) == 2 &&
           std::pair(major, minor) >= std::pair(6, 15);
}

TEST(Processes, tells_whether_a_signal_killed_it) {
    for (const bool by_signal : {true, false}) {
        EventLoop loop;
        Processes processes(loop);
        std::array<int, 2> go{};
        ASSERT_EQ(pipe(go.data()), 0);
        const pid_t child = fork();
        if (child == 0) {
            close(go[1]);
            char byte = 0;
            static_cast<void>(read(go[0], &byte, 1));
            _exit(3);
        }
        close(go[0]);
        const auto name = processes.identify(child);
        ASSERT_TRUE(name);
        const auto watch = processes.on_exit(*name, [&] { loop.stop(0); });
        EXPECT_FALSE(watch->killed()) << "it is alive";
        if (by_signal) kill(child, SIGTERM);
        close(go[1]);
        loop.run();
        waitpid(child, nullptr, 0);
        EXPECT_EQ(watch->killed(), by_signal && kernel_tells_how_processes_end());
    }
}

/// The kernel limits how many descriptors a user may watch (fs.epoll.max_user_watches).
class FullLoop final : public app::Loop {
  public:
    explicit FullLoop(EventLoop& inner) : inner_(inner) {}
    app::WatchPtr watch(int, std::uint32_t, std::function<void(std::uint32_t)>) override {
        throw std::system_error(ENOSPC, std::generic_category(), "epoll_ctl");
    }
    app::WatchPtr watch_asking(int fd, std::function<Wanted()> wanted, std::function<void()> call) override {
        return inner_.watch_asking(fd, std::move(wanted), std::move(call));
    }
    app::WatchPtr at(app::Nanos when, std::function<void()> call) override {
        return inner_.at(when, std::move(call));
    }
    void post(std::function<void()> call) override { inner_.post(std::move(call)); }
    app::Nanos now() const override { return inner_.now(); }

  private:
    EventLoop& inner_;
};

TEST(Processes, an_end_is_noticed_where_nothing_more_can_be_watched) {
    EventLoop loop;
    FullLoop full(loop);
    Processes processes(full);
    const pid_t child = fork();
    if (child == 0) pause_until_killed();
    const auto name = processes.identify(child);
    ASSERT_TRUE(name);
    bool called = false;
    const auto watch = processes.on_exit(*name, [&] {
        called = true;
        loop.stop(0);
    });
    EXPECT_FALSE(called);
    kill(child, SIGKILL);
    loop.run();
    EXPECT_TRUE(called);
    waitpid(child, nullptr, 0);
}

TEST(Processes, one_that_has_ended_already_is_told_too) {
    EventLoop loop;
    Processes processes(loop);
    const auto watch = processes.on_exit({getpid(), 1, "another boot"}, [&] { loop.stop(0); });
    EXPECT_EQ(loop.run(), 0);
}

TEST(Processes, knows_what_descends_from_what) {
    EventLoop loop;
    Processes processes(loop);
    const auto self = *processes.identify(getpid());
    const pid_t child = fork();
    if (child == 0) pause_until_killed();
    const auto its = *processes.identify(child);
    EXPECT_TRUE(processes.descends(its, self));
    EXPECT_TRUE(processes.descends(self, self));
    EXPECT_FALSE(processes.descends(self, its));
    auto earlier = self;
    earlier.start_time -= 1;
    EXPECT_FALSE(processes.descends(its, earlier)) << "another one that had the pid";
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    EXPECT_FALSE(processes.descends(its, self));
}

TEST(Processes, kills_who_is_meant_and_nobody_else) {
    EventLoop loop;
    Processes processes(loop);
    const pid_t child = fork();
    if (child == 0) pause_until_killed();
    const auto its = *processes.identify(child);
    auto earlier = its;
    earlier.start_time -= 1;
    EXPECT_TRUE(processes.signal(earlier, app::Signal::kill)) << "it has ended, and its pid is another's";
    EXPECT_TRUE(processes.alive(its));
    EXPECT_TRUE(processes.signal(its, app::Signal::kill));
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    EXPECT_TRUE(processes.signal(its, app::Signal::kill)) << "gone already";
}

TEST(Processes, asks_to_end_and_tells_for_whom_one_runs) {
    EventLoop loop;
    Processes processes(loop);
    const auto own = geteuid();
    std::array<int, 2> ready{};
    ASSERT_EQ(pipe(ready.data()), 0);
    const pid_t child = fork();
    if (child == 0) {
        // As a rootless container has it.
        const bool apart = unshare(CLONE_NEWUSER) == 0;
        const std::string ids = "0 " + std::to_string(own) + " 1";
        const int map = open("/proc/self/uid_map", O_WRONLY | O_CLOEXEC);
        const bool mapped = apart && write(map, ids.data(), ids.size()) > 0;
        const char word = mapped ? 'y' : 'n';
        if (write(ready[1], &word, 1) != 1) _exit(1);
        pause_until_killed();
    }
    char word = 0;
    ASSERT_EQ(read(ready[0], &word, 1), 1);
    close(ready[0]);
    close(ready[1]);
    const auto its = *processes.identify(child);
    const auto self = *processes.identify(getpid());
    EXPECT_TRUE(processes.runs_for(self, own));
    EXPECT_FALSE(processes.runs_for(self, own + 1));
    EXPECT_TRUE(processes.runs_for(its, own));
    if (word == 'y') {
        EXPECT_TRUE(processes.runs_for(its, own + 1)) << "in a user namespace";
    }
    EXPECT_TRUE(processes.signal(its, app::Signal::term));
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    EXPECT_FALSE(processes.runs_for(its, own)) << "it has ended";
}

TEST(Processes, says_where_it_may_not_kill) {
    if (geteuid() != 0) GTEST_SKIP() << "takes two users";
    const pid_t roots = fork();
    if (roots == 0) pause_until_killed();
    const pid_t nobodys = fork();
    if (nobodys == 0) {
        EventLoop loop;
        Processes processes(loop);
        if (!Processes::may_kill_others() || setresuid(65534, 65534, 65534) != 0) _exit(1);
        if (Processes::may_kill_others()) _exit(2);
        const auto refused = processes.signal(*processes.identify(roots), app::Signal::kill);
        if (refused) _exit(3);
        _exit(refused.error().text.find("CAP_KILL") == std::string::npos ? 4 : 0);
    }
    int status = -1;
    waitpid(nobodys, &status, 0);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(waitpid(roots, nullptr, WNOHANG), 0) << "it lives";
    kill(roots, SIGKILL);
    waitpid(roots, nullptr, 0);
}

}  // namespace
}  // namespace cgpu::system
