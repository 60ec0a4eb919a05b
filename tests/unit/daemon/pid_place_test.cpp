#include "daemon/app/pid_place.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <fstream>
#include <string>
#include <thread>

#include "daemon/system/pid_namespaces.hpp"

namespace cgpu::system {
namespace {

using app::pid_seen_from;
using app::PidPlace;

TEST(PidPlace, AProcessIsSeenFromItsOwnNamespaceAndFromThoseAbove) {
    const PidPlace on_the_host{{500}, {0}};
    const PidPlace in_a_container{{700, 12}, {0, 690}};
    const PidPlace deeper{{710, 20, 3}, {0, 690, 708}};
    EXPECT_EQ(pid_seen_from(on_the_host, on_the_host), 500);
    EXPECT_EQ(pid_seen_from(on_the_host, deeper), 710);
    EXPECT_EQ(pid_seen_from(in_a_container, deeper), 20);
    EXPECT_EQ(pid_seen_from(deeper, deeper), 3);
    EXPECT_EQ(pid_seen_from(deeper, in_a_container), std::nullopt);
    EXPECT_EQ(pid_seen_from(in_a_container, on_the_host), std::nullopt);
}

TEST(PidPlace, ANamespaceBesideIsNotSeenInto) {
    const PidPlace one{{700, 12}, {0, 690}};
    const PidPlace other{{800, 12}, {0, 790}};
    const PidPlace entered_from_outside{{900, 44}, {0, 0}};
    EXPECT_EQ(pid_seen_from(one, other), std::nullopt);
    EXPECT_EQ(pid_seen_from(one, entered_from_outside), 44);
    EXPECT_EQ(pid_seen_from(entered_from_outside, one), 12);
}

TEST(PidPlace, NothingIsSeenOfOrByWhatIsNotKnown) {
    const PidPlace known{{500}, {0}};
    EXPECT_EQ(pid_seen_from({}, known), std::nullopt);
    EXPECT_EQ(pid_seen_from(known, {}), std::nullopt);
}

TEST(PidStatus, ReadsEveryLevel) {
    const auto status = parse_pid_status("Name:\tNSpid:\t9\nPPid:\t41\nNSpid:\t700\t12\t1\nNSpgid:\t5\n");
    EXPECT_EQ(status.pids, (std::vector<std::int32_t>{700, 12, 1}));
    EXPECT_EQ(status.parent, 41);
    for (const auto* wrong : {"", "NSpid:", "Name:\tx\nNSpid:\tx\n"}) {
        EXPECT_TRUE(parse_pid_status(wrong).pids.empty()) << wrong;
        EXPECT_EQ(parse_pid_status(wrong).parent, 0) << wrong;
    }
}

TEST(PidNamespaces, AProcessOfOurOwnHasOnePid) {
    const auto place = read_pid_place(getpid());
    EXPECT_EQ(place.pids, std::vector<std::int32_t>{getpid()});
    EXPECT_TRUE(read_pid_place(0x7fffffff).pids.empty());
}

/// A pid namespace: its first process, that one's child, and a process that has entered it from outside.
class Namespace {
  public:
    Namespace() {
        void* page = mmap(nullptr, sizeof *inner_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (page == MAP_FAILED) return;
        inner_ = new (page) Inner;
        std::array<int, 2> to_test{};
        if (pipe(to_test.data()) != 0) return;
        maker_ = fork();
        if (maker_ == 0) make(to_test[1]);
        close(to_test[1]);
        made_ = read(to_test[0], pids_.data(), sizeof pids_) == sizeof pids_;
        close(to_test[0]);
        if (!made_) return;
        const auto init = std::to_string(pids_[0]);
        std::ifstream("/proc/" + init + "/task/" + init + "/children") >> child_;
        const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while ((inner_->child == 0 || inner_->entered == 0) && std::chrono::steady_clock::now() < until)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    ~Namespace() {
        if (inner_ != nullptr) munmap(inner_, sizeof *inner_);
        kill(maker_, SIGKILL);
        waitpid(maker_, nullptr, 0);
    }
    Namespace(const Namespace&) = delete;
    Namespace& operator=(const Namespace&) = delete;

    [[nodiscard]] bool made() const { return made_; }
    [[nodiscard]] pid_t init() const { return pids_[0]; }
    [[nodiscard]] pid_t child() const { return child_; }
    [[nodiscard]] pid_t entered() const { return pids_[1]; }
    /// What they call themselves. A sanitizer's own threads take numbers, too.
    [[nodiscard]] pid_t inner_child() const { return inner_->child; }
    [[nodiscard]] pid_t inner_entered() const { return inner_->entered; }

  private:
    [[noreturn]] static void pause_until_killed() {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;) pause();
    }
    [[noreturn]] void make(int to_test) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        std::array<int, 2> to_maker{};
        if (unshare(CLONE_NEWPID) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0) _exit(1);
        if (pipe(to_maker.data()) != 0) _exit(1);
        const pid_t init = fork();
        if (init == 0) {
            if (fork() == 0) {
                inner_->child = getpid();
                pause_until_killed();
            }
            if (write(to_maker[1], ".", 1) != 1) _exit(1);
            pause_until_killed();
        }
        char word = 0;
        if (read(to_maker[0], &word, 1) != 1) _exit(1);
        const pid_t entered = fork();
        if (entered == 0) {
            inner_->entered = getpid();
            pause_until_killed();
        }
        const std::array<pid_t, 2> pids{init, entered};
        if (write(to_test, pids.data(), sizeof pids) != sizeof pids) _exit(1);
        for (;;) pause();
    }

    struct Inner {
        std::atomic<pid_t> child{0};
        std::atomic<pid_t> entered{0};
    };
    Inner* inner_ = nullptr;
    pid_t maker_ = -1;
    pid_t child_ = -1;
    std::array<pid_t, 2> pids_{};
    bool made_ = false;
};

TEST(PidNamespaces, AreToldApartByTheirFirstProcess) {
    const Namespace one;
    const Namespace other;
    if (!one.made() || !other.made()) GTEST_SKIP() << "no pid namespace can be made here";
    const auto init = read_pid_place(one.init());
    const auto child = read_pid_place(one.child());
    const auto entered = read_pid_place(one.entered());
    EXPECT_EQ(init.pids, (std::vector<std::int32_t>{one.init(), 1}));
    EXPECT_EQ(child.pids, (std::vector<std::int32_t>{one.child(), one.inner_child()}));
    EXPECT_EQ(entered.pids, (std::vector<std::int32_t>{one.entered(), one.inner_entered()}));
    EXPECT_EQ(init.inits, (std::vector<std::int32_t>{0, one.init()}));
    EXPECT_EQ(child.inits, init.inits);
    EXPECT_EQ(entered.inits, (std::vector<std::int32_t>{0, 0}));
    EXPECT_EQ(pid_seen_from(child, init), 1);
    EXPECT_EQ(pid_seen_from(entered, child), one.inner_child());
    EXPECT_EQ(pid_seen_from(child, read_pid_place(other.child())), std::nullopt);
    EXPECT_EQ(pid_seen_from(read_pid_place(getpid()), child), one.child());
}

}  // namespace
}  // namespace cgpu::system
