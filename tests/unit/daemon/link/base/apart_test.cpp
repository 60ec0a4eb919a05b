// Threads with a table of descriptors of their own.
#include "daemon/link/base/apart.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace cgpu::link {
namespace {

struct Pipe {
    Pipe() { opened = pipe2(ends.data(), O_CLOEXEC) == 0; }
    ~Pipe() {
        close(ends[0]);
        close(ends[1]);
    }
    std::array<int, 2> ends{};
    bool opened = false;
};

/// What the thread writes until it has ended.
std::string all_of(int fd) {
    std::string text;
    std::array<char, 256> part{};
    for (ssize_t got = 0; (got = read(fd, part.data(), part.size())) > 0;)
        text.append(part.data(), static_cast<std::size_t>(got));
    return text;
}

bool is_open(int fd) { return fcntl(fd, F_GETFD) >= 0; }

// A thousand others, as a node with hundreds of instances has: the thread has none of them.
TEST(Apart, AThreadHasTheDescriptorsItWasGivenAndNoOthers) {
    std::set<int> others;
    for (int i = 0; i < 1000; ++i) others.insert(open("/dev/null", O_RDONLY | O_CLOEXEC));
    Pipe pipe;
    ASSERT_TRUE(pipe.opened);
    const int given = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    ASSERT_TRUE(start_apart({pipe.ends[1], given}, [](const Apart& fds) {
        std::string text = std::filesystem::read_symlink("/proc/thread-self/fd/" + std::to_string(fds[1]));
        for (const auto& entry : std::filesystem::directory_iterator("/proc/thread-self/fd")) {
            const auto number = std::stoi(entry.path().filename());
            if (number > STDERR_FILENO && number != fds[0] && number != fds[1])
                text += "\n" + std::filesystem::read_symlink(entry.path()).string();
        }
        (void)!write(fds[0], text.data(), text.size());
    }));
    close(given);
    close(std::exchange(pipe.ends[1], -1));
    const auto seen = all_of(pipe.ends[0]);
    // The listing's own descriptor is in it.
    const auto own = std::filesystem::read_symlink("/proc/self/exe").string();
    EXPECT_EQ(seen.substr(0, seen.find('\n')), own);
    EXPECT_EQ(std::count(seen.begin(), seen.end(), '\n'), 1) << seen;
    EXPECT_NE(seen.find("/fd"), std::string::npos) << seen;
    for (const int other : others) close(other);
}

TEST(Apart, WhatTheThreadClosesStaysOpenForTheOthers) {
    Pipe said;
    Pipe kept;
    ASSERT_TRUE(start_apart({said.ends[1], kept.ends[0]}, [](const Apart& fds) {
        keep_only(fds[0]);
        const char answer = is_open(fds[1]) ? 'o' : 'c';
        (void)!write(fds[0], &answer, 1);
    }));
    close(std::exchange(said.ends[1], -1));
    EXPECT_EQ(all_of(said.ends[0]), "c");
    EXPECT_TRUE(is_open(kept.ends[0]));
}

// The end of the thread closes what it was given: nobody else keeps a copy.
TEST(Apart, NothingIsLeftWhenTheThreadHasEnded) {
    for (int i = 0; i < 50; ++i) {
        Pipe pipe;
        ASSERT_TRUE(start_apart({pipe.ends[1]}, [](const Apart&) {}));
        close(std::exchange(pipe.ends[1], -1));
        pollfd end{pipe.ends[0], POLLIN, 0};
        ASSERT_EQ(poll(&end, 1, 10'000), 1);
        ASSERT_EQ(all_of(pipe.ends[0]), "");
    }
}

TEST(Apart, NoneAndTooManyDescriptorsAreRefused) {
    EXPECT_FALSE(start_apart({}, [](const Apart&) {}));
    EXPECT_FALSE(start_apart(std::vector<int>(kMostApart + 1, STDERR_FILENO), [](const Apart&) {}));
    EXPECT_FALSE(start_apart({-1}, [](const Apart&) {}));
    EXPECT_TRUE(start_apart({STDERR_FILENO}, [](const Apart&) {}));
}

}  // namespace
}  // namespace cgpu::link
