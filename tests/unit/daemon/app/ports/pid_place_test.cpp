#include "daemon/app/ports/pid_place.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "daemon/system/processes/pid_namespaces.hpp"

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

/// A program of the system with a pipe as its output: unlike a fork of this test, it brings no sanitizer
/// thread into a namespace that it makes.
class Program {
  public:
    explicit Program(std::vector<std::string> words) {
        std::vector<char*> argv;
        argv.reserve(words.size() + 1);
        for (auto& word : words) argv.push_back(word.data());
        argv.push_back(nullptr);
        std::array<int, 2> pipe_ends{};
        if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0) return;
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
        if (posix_spawnp(&pid_, argv[0], &actions, nullptr, argv.data(), environ) != 0) pid_ = 0;
        posix_spawn_file_actions_destroy(&actions);
        close(pipe_ends[1]);
        output_ = pipe_ends[0];
    }
    ~Program() {
        if (output_ >= 0) close(output_);
        if (pid_ <= 0) return;
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
    }
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    /// The number that it printed; 0 if it ended without one or took 20 s.
    [[nodiscard]] pid_t number() const {
        pollfd ready{output_, POLLIN, 0};
        std::array<char, 16> text{};
        if (poll(&ready, 1, 20'000) != 1 || read(output_, text.data(), text.size() - 1) <= 0) return 0;
        return std::atoi(text.data());
    }
    [[nodiscard]] pid_t pid() const { return pid_; }

  private:
    pid_t pid_ = 0;
    int output_ = -1;
};

pid_t only_child_of(pid_t pid) {
    const auto name = std::to_string(pid);
    pid_t child = 0;
    std::ifstream("/proc/" + name + "/task/" + name + "/children") >> child;
    return child;
}

/// A pid namespace: its first process, a child of that, and a process that has entered it from outside.
class Namespace {
  public:
    Namespace()
        : maker_({"unshare", "--pid", "--fork", "--kill-child", "sh", "-c", "sleep 600 & echo $!; wait"}),
          inner_child_(maker_.number()),
          init_(only_child_of(maker_.pid())),
          entering_(
              {"nsenter", "--pid", "--target", std::to_string(init_), "sh", "-c", "echo $$; exec sleep 600"}),
          inner_entered_(entering_.number()) {}

    [[nodiscard]] bool made() const { return inner_child_ != 0 && inner_entered_ != 0; }
    [[nodiscard]] pid_t init() const { return init_; }
    [[nodiscard]] pid_t child() const { return only_child_of(init_); }
    [[nodiscard]] pid_t entered() const { return only_child_of(entering_.pid()); }
    [[nodiscard]] pid_t inner_child() const { return inner_child_; }
    [[nodiscard]] pid_t inner_entered() const { return inner_entered_; }

  private:
    Program maker_;
    pid_t inner_child_;
    pid_t init_;
    Program entering_;
    pid_t inner_entered_;
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
