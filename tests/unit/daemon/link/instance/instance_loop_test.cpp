#include "daemon/link/instance/instance_loop.hpp"

#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <deque>
#include <map>

#include "tests/unit/daemon/link/support/link_loop.hpp"

namespace cgpu::link::test {
namespace {

/// A pipe that is always ready to be read.
class Ready {
  public:
    Ready() {
        EXPECT_EQ(pipe(ends_.data()), 0);
        EXPECT_EQ(write(ends_[1], "x", 1), 1);
    }
    ~Ready() {
        close(ends_[0]);
        close(ends_[1]);
    }
    Ready(const Ready&) = delete;
    Ready& operator=(const Ready&) = delete;
    [[nodiscard]] int fd() const { return ends_[0]; }

  private:
    std::array<int, 2> ends_{};
};

void work_for(app::Nanos time) {
    const PollLoop clock;
    const auto until = clock.now() + time;
    while (clock.now() < until) {
    }
}

TEST(InstanceLoop, one_with_many_connections_gives_way_to_its_neighbour_after_a_turn) {
    PollLoop outer;
    InstanceLoop greedy(outer);
    InstanceLoop neighbour(outer);
    std::deque<Ready> all(100);
    std::vector<app::WatchPtr> watches;
    watches.reserve(all.size() + 1);
    int calls = 0;
    int most_between = 0;
    int since = 0;
    for (const auto& each : all)
        watches.push_back(greedy.watch(each.fd(), EPOLLIN, [&](std::uint32_t) {
            ++calls;
            ++since;
            work_for(InstanceLoop::kTurn / 5);
        }));
    Ready own;
    int served = 0;
    watches.push_back(neighbour.watch(own.fd(), EPOLLIN, [&](std::uint32_t) {
        ++served;
        most_between = std::max(most_between, since);
        since = 0;
    }));
    // The neighbour is always ready too, and uses its whole turn: so it is served in every turn of the loop.
    ASSERT_TRUE(outer.run_until([&] { return calls >= 300; }));
    EXPECT_GE(served, 60);
    EXPECT_LE(most_between, 6) << "five calls of a fifth of a turn, and the one that was begun";
}

TEST(InstanceLoop, of_an_instance_everybody_has_a_turn) {
    PollLoop outer;
    InstanceLoop loop(outer);
    std::deque<Ready> all(50);
    std::vector<app::WatchPtr> watches;
    watches.reserve(all.size());
    std::map<int, int> calls;
    for (const auto& each : all)
        watches.push_back(loop.watch(each.fd(), EPOLLIN, [&calls, fd = each.fd()](std::uint32_t) {
            ++calls[fd];
            work_for(InstanceLoop::kTurn / 3);
        }));
    int total = 0;
    ASSERT_TRUE(outer.run_until([&] {
        total = 0;
        for (const auto& [fd, count] : calls) total += count;
        return total >= 200;
    }));
    EXPECT_EQ(calls.size(), all.size());
    for (const auto& [fd, count] : calls) EXPECT_NEAR(count, total / 50.0, 1.5) << fd;
}

TEST(InstanceLoop, a_call_may_end_its_own_watch_and_others) {
    PollLoop outer;
    InstanceLoop loop(outer);
    Ready first;
    Ready second;
    app::WatchPtr a;
    app::WatchPtr b;
    int calls = 0;
    const auto end_both = [&](std::uint32_t) {
        ++calls;
        a.reset();
        b.reset();
    };
    a = loop.watch(first.fd(), EPOLLIN, end_both);
    b = loop.watch(second.fd(), EPOLLIN, end_both);
    ASSERT_TRUE(outer.run_until([&] { return calls > 0; }));
    outer.settle();
    EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace cgpu::link::test
