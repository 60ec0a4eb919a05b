#include "daemon/system/event_loop.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <future>
#include <limits>
#include <thread>

namespace cgpu::system {
namespace {

TEST(EventLoop, runs_timers_in_order_and_stops) {
    EventLoop loop;
    std::string order;
    const auto later = loop.at(loop.now() + 3'000'000, [&] {
        order += "b";
        loop.stop(7);
    });
    const auto sooner = loop.at(loop.now() + 1'000'000, [&] { order += "a"; });
    EXPECT_EQ(loop.run(), 7);
    EXPECT_EQ(order, "ab");
}

TEST(EventLoop, a_watch_that_is_gone_does_not_call) {
    EventLoop loop;
    bool called = false;
    auto gone = loop.at(loop.now(), [&] { called = true; });
    gone.reset();
    const auto end = loop.at(loop.now() + 1'000'000, [&] { loop.stop(0); });
    loop.run();
    EXPECT_FALSE(called);
}

TEST(EventLoop, takes_posts_from_other_threads) {
    EventLoop loop;
    int got = 0;
    std::thread other([&] {
        for (int i = 0; i < 100; ++i) loop.post([&] { ++got; });
        loop.post([&] { loop.stop(0); });
    });
    loop.run();
    other.join();
    EXPECT_EQ(got, 100);
}

TEST(EventLoop, gets_signals_although_there_are_other_threads) {
    EventLoop::block({SIGHUP});
    std::promise<void> done;
    std::thread other([told = done.get_future()] { told.wait(); });
    EventLoop loop;
    const auto watch = loop.on_signal(SIGHUP, [&] { loop.stop(3); });
    kill(getpid(), SIGHUP);
    EXPECT_EQ(loop.run(), 3);
    done.set_value();
    other.join();
}

TEST(EventLoop, asks_before_every_wait) {
    EventLoop loop;
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe(ends.data()), 0);
    int asked = 0;
    int dispatched = 0;
    const auto watch = loop.watch_asking(
        ends[0],
        [&] {
            ++asked;
            return app::Loop::Wanted{EPOLLIN,
                                     dispatched == 0 ? std::numeric_limits<app::Nanos>::max() : loop.now()};
        },
        [&] {
            char c = 0;
            if (dispatched++ == 0) {
                EXPECT_EQ(read(ends[0], &c, 1), 1);
            }
            if (dispatched == 2) loop.stop(0);
        });
    ASSERT_EQ(write(ends[1], "x", 1), 1);
    loop.run();
    EXPECT_EQ(dispatched, 2);
    EXPECT_GE(asked, 2);
    close(ends[0]);
    close(ends[1]);
}

}  // namespace
}  // namespace cgpu::system
