#include "client/cgpuctl/top/base/worker.hpp"

#include <poll.h>

#include <future>
#include <string>

#include <gtest/gtest.h>

namespace cgpu::cgpuctl::top {
namespace {

constexpr int kDeadlineMs = 10000;

/// Waits for a task that has ended, and carries out what it returned.
void take_one(Worker& worker) {
    for (;;) {
        if (const auto done = worker.take()) {
            (*done)();
            return;
        }
        pollfd file{worker.fd(), POLLIN, 0};
        ASSERT_GT(poll(&file, 1, kDeadlineMs), 0) << "no task has ended";
    }
}

TEST(TopWorker, CarriesOutTasksInTheirOrder) {
    std::string order;
    Worker worker;
    for (const char letter : {'a', 'b', 'c'})
        worker.add([&order, letter]() -> Worker::Done { return [&order, letter] { order += letter; }; });
    for (int i = 0; i < 3; ++i) take_one(worker);
    EXPECT_EQ(order, "abc");
    EXPECT_FALSE(worker.is_busy());
    EXPECT_FALSE(worker.take());
}

TEST(TopWorker, IsBusyUntilATaskHasEnded) {
    std::promise<void> may_end;
    Worker worker;
    EXPECT_FALSE(worker.is_busy());
    worker.add([&]() -> Worker::Done {
        may_end.get_future().wait();
        return [] {};
    });
    EXPECT_TRUE(worker.is_busy());
    EXPECT_FALSE(worker.take());
    may_end.set_value();
    take_one(worker);
    EXPECT_FALSE(worker.is_busy());
}

}  // namespace
}  // namespace cgpu::cgpuctl::top
