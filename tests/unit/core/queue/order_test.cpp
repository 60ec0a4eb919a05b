#include "core/queue/base/order.hpp"

#include <gtest/gtest.h>

#include "tests/unit/core/queue/queue_line.hpp"

namespace cgpu::queue {
namespace {

using namespace cgpu::test;

const model::Owner kOwnerAlice{kAlice, ""};
const model::Owner kOwnerBob{kBob, ""};

Tickets tickets_of(const Order& order) {
    Tickets tickets;
    for (const auto* each : order) tickets.push_back(each->ticket);
    return tickets;
}

TEST(QueueOrder, PriorityThenTheTimeOfAsking) {
    Queue queue;
    for (const int priority : {0, 1, -1, 1}) {
        auto made = waiting(1);
        made.priority = priority;
        queue.add(made);
    }
    const auto order = in_order(queue);
    EXPECT_EQ(tickets_of(order), (Tickets{2, 4, 1, 3}));
    EXPECT_EQ(position_of(order, 1), 3U);
    EXPECT_EQ(position_of(order, 9), std::nullopt);
}

TEST(QueueOrder, WhereItIsFairTheOwnerWhoHadLeastLatelyComesFirst) {
    Queue queue;
    for (const std::uint32_t user : {1000U, 1001U, 1002U, 1001U}) queue.add(waiting(1, std::nullopt, user));
    EXPECT_EQ(tickets_of(in_order(queue)), (Tickets{1, 2, 3, 4}));
    const RecentUse recent{{kOwnerAlice, 5e9}, {kOwnerBob, 1e9}};
    EXPECT_EQ(tickets_of(in_order(queue, &recent)), (Tickets{3, 2, 4, 1})) << "1002 had none";
    auto urgent = waiting(1, std::nullopt, 1000);
    urgent.priority = 1;
    queue.add(urgent);
    EXPECT_EQ(tickets_of(in_order(queue, &recent)), (Tickets{5, 3, 2, 4, 1})) << "priority goes before that";
}

}  // namespace
}  // namespace cgpu::queue
