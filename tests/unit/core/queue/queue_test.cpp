#include "core/queue/base/queue.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "core/queue/base/order.hpp"
#include "tests/unit/core/queue/queue_line.hpp"

namespace cgpu::queue {
namespace {

using namespace cgpu::test;

TEST(Queue, TicketsGrowAndAreNotGivenAgain) {
    Queue queue;
    EXPECT_EQ(queue.add(waiting(1)), 1U);
    EXPECT_EQ(queue.add(waiting(2)), 2U);
    EXPECT_NE(queue.remove(2), nullptr);
    EXPECT_EQ(queue.add(waiting(3)), 3U);
    EXPECT_EQ(queue.size(), 2U);
    EXPECT_EQ(queue.find(2), nullptr);
    ASSERT_NE(queue.find(3), nullptr);
    EXPECT_EQ(queue.find(3)->request, waiting(3).request);
}

TEST(Queue, RemovesOnlyWhoWaits) {
    Queue queue;
    queue.add(waiting(1));
    const Queue before = queue;
    EXPECT_EQ(queue.remove(7), nullptr);
    EXPECT_EQ(queue, before);
    const auto removed = queue.remove(1);
    ASSERT_NE(removed, nullptr);
    EXPECT_EQ(removed->ticket, 1U);
    EXPECT_TRUE(queue.empty());
    EXPECT_EQ(before.size(), 1U) << "a copy keeps it";
}

TEST(Queue, Deadlines) {
    Queue queue;
    EXPECT_EQ(queue.next_deadline(), std::nullopt);
    for (const Nanos deadline : {300, 100, 200}) {
        auto made = waiting(1);
        made.deadline = deadline;
        queue.add(made);
    }
    queue.add(waiting(1));
    EXPECT_EQ(queue.next_deadline(), 100);
    EXPECT_EQ(queue.overdue(99), Tickets{});
    EXPECT_EQ(queue.overdue(100), Tickets{2});
    EXPECT_EQ(queue.overdue(250), (Tickets{2, 3}));
}

TEST(Queue, RestoreRefusesWhatCantBe) {
    auto one = waiting(1);
    one.ticket = 1;
    EXPECT_TRUE(Queue::restore({one}, 2));
    expect_well_formed(Queue::restore({one}, 1).error());
    EXPECT_EQ(Queue::restore({one, one}, 2).error().text,
              "saved queue: request 1 is in it twice. Try: restore a copy of the state, or move it away to "
              "start empty.");
    one.ticket = 0;
    EXPECT_FALSE(Queue::restore({one}, 2));
}

RC_GTEST_PROP(QueueProperty, TheOrderIsTheSameAfterARestart, ()) {
    Queue queue;
    RecentUse recent;
    for (int n = *rc::gen::inRange(0, 40); n > 0; --n) {
        auto made = waiting(1, std::nullopt, *rc::gen::inRange(1000U, 1005U));
        made.priority = *rc::gen::inRange(-2, 3);
        // A clock that is set back doesn't change who came first.
        made.asked_at = *rc::gen::inRange<Nanos>(0, 100);
        queue.add(made);
        if (*rc::gen::inRange(0, 4) == 0) queue.remove(*rc::gen::inRange<Ticket>(1, queue.next()));
    }
    for (std::uint32_t user = 1000; user < 1004; ++user)
        recent[{user, ""}] = static_cast<double>(*rc::gen::inRange(0, 3));
    const RecentUse* fair = *rc::gen::arbitrary<bool>() ? &recent : nullptr;

    std::vector<Waiting> saved;
    for (const auto& each : queue.all()) saved.push_back(*each);
    for (std::size_t i = saved.size(); i > 1; --i)
        std::swap(saved[i - 1], saved[*rc::gen::inRange<std::size_t>(0, i)]);
    const auto restored = Queue::restore(saved, queue.next());
    RC_ASSERT(restored.has_value());
    RC_ASSERT(*restored == queue);
    const Order before = in_order(queue, fair);
    const Order after = in_order(*restored, fair);
    RC_ASSERT(before.size() == after.size());
    for (std::size_t i = 0; i < before.size(); ++i) {
        RC_ASSERT(before[i]->ticket == after[i]->ticket);
        RC_ASSERT(position_of(after, before[i]->ticket) == i + 1);
    }
}

}  // namespace
}  // namespace cgpu::queue
