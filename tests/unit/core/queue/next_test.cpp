#include "core/queue/next.hpp"

#include <gtest/gtest.h>

#include "tests/unit/core/queue/queue_line.hpp"

/// Who starts, and what the others are told, where no time limit is known.
namespace cgpu::queue {
namespace {

using namespace cgpu::test;

TEST(QueueNext, WhoeverFitsStartsInTheOrderOfTheQueue) {
    Line line{v100()};
    line.queue.add(waiting(4096));
    line.queue.add(waiting(8192));
    auto urgent = waiting(2048);
    urgent.priority = 1;
    line.queue.add(urgent);
    const auto decision = line.next();
    EXPECT_EQ(started(decision), (Tickets{3, 1, 2}));
    EXPECT_TRUE(decision.waits.empty());
    EXPECT_FALSE(decision.more);
    for (const auto& [ticket, grant] : decision.starts)
        EXPECT_TRUE(line.node.add_instance(instance("r" + std::to_string(ticket), grant.quotas, grant.mode)));
}

TEST(QueueNext, WhatBecomesFreeIsForTheFirst) {
    Line line{v100()};
    line.run("a", 0, 8192);
    line.run("b", 0, 4096);
    line.queue.add(waiting(16130));
    line.queue.add(waiting(1024));
    auto decision = line.next();
    EXPECT_EQ(started(decision), Tickets{}) << "the second has room, and the first could use that";
    const auto first = wait_of(decision, 1);
    EXPECT_EQ(first.position, 1U);
    EXPECT_EQ(first.why, Why::room);
    ASSERT_EQ(first.lacks->size(), 1U);
    const Lack lack{uuid(0), Lack::What::memory, model::Bytes::from_mib(16130), model::Bytes::from_mib(3842),
                    2};
    EXPECT_EQ(first.lacks->front(), lack);
    EXPECT_EQ(first.at_latest, std::nullopt);
    const auto second = wait_of(decision, 2);
    EXPECT_EQ(second.position, 2U);
    EXPECT_EQ(second.why, Why::turn);
    EXPECT_EQ(second.behind, 1U);

    line.end("a");
    EXPECT_EQ(started(line.next()), Tickets{});
    line.end("b");
    decision = line.next();
    EXPECT_EQ(started(decision), Tickets{1});
    EXPECT_EQ(wait_of(decision, 2).why, Why::room);
}

TEST(QueueNext, OnGpusThatTheFirstCantUse) {
    Line line{node({gpu(0, 16130), gpu(1, 8192), gpu(2, 16130)})};
    line.run("a", 0, 8192);
    line.run("b", 2, 16130);
    line.queue.add(waiting(10240));        // neither on 1, which is too small
    line.queue.add(waiting_for(0, 1024));  // would delay the first
    line.queue.add(waiting(8192));         // on 1
    line.queue.add(waiting_for(1, 1024));  // nothing is left there
    const auto decision = line.next();
    EXPECT_EQ(started(decision), Tickets{3});
    EXPECT_EQ(decision.starts.front().grant.quotas.front().gpu, uuid(1));
    EXPECT_EQ(wait_of(decision, 1).lacks->size(), 2U);
    EXPECT_EQ(wait_of(decision, 2).behind, 1U);
    EXPECT_EQ(wait_of(decision, 4).why, Why::room);
}

TEST(QueueNext, ASecondOneThatWaitsIsNotPassedEither) {
    Line line{node({gpu(0, 16130), gpu(1, 16130)})};
    line.run("a", 0, 8192);
    line.run("b", 1, 8192);
    line.queue.add(waiting_for(0, 16130));
    line.queue.add(waiting_for(1, 16130));
    line.queue.add(waiting(1024));
    const auto decision = line.next();
    EXPECT_EQ(started(decision), Tickets{});
    EXPECT_EQ(wait_of(decision, 2).why, Why::room);
    EXPECT_EQ(wait_of(decision, 3).why, Why::turn);
}

TEST(QueueNext, DrainedAndLostGpusTakeNobodyAndNobodyHoldsUpOthersForThem) {
    Line line{node({gpu(0, 16130), gpu(1, 16130)})};
    line.run("a", 0, 8192);
    EXPECT_TRUE(line.node.set_drained(uuid(1), true));
    line.queue.add(waiting_for(1, 1024));
    line.queue.add(waiting_on(2, 1024));
    line.queue.add(waiting(1024));
    auto decision = line.next();
    EXPECT_EQ(started(decision), Tickets{3});
    EXPECT_EQ(decision.starts.front().grant.quotas.front().gpu, uuid(0));
    EXPECT_EQ(wait_of(decision, 1).why, Why::gpus);
    EXPECT_EQ(wait_of(decision, 2).why, Why::gpus);

    EXPECT_TRUE(line.node.set_drained(uuid(1), false));
    EXPECT_EQ(started(line.next()), (Tickets{1, 2, 3}));
    EXPECT_TRUE(line.node.sync_gpus({gpu(0, 16130)}));
    decision = line.next();
    EXPECT_EQ(started(decision), Tickets{3});
    EXPECT_EQ(wait_of(decision, 1).why, Why::gpus);
}

TEST(QueueNext, WhatAGpuLacks) {
    Line line{node({gpu(0, 16130), gpu(1, 16130, {.max_inst = 1}), gpu(2, 16130), gpu(3, 16130)})};
    line.run("a", 0, 16000);
    line.run("b", 1, 1024);
    auto whole = instance("c", {quota_of_percent(2, 1024, 100)});
    whole.quotas.front().exclusive = true;
    EXPECT_TRUE(line.node.add_instance(whole));
    EXPECT_TRUE(line.node.add_instance(instance("d", {quota(3, 1024)}, model::Mode::none)));
    line.queue.add(waiting(1024));
    const auto wait = wait_of(line.next(), 1);
    EXPECT_EQ(wait.why, Why::room);
    ASSERT_EQ(wait.lacks->size(), 4U);
    EXPECT_EQ((*wait.lacks)[0].what, Lack::What::memory);
    EXPECT_EQ((*wait.lacks)[1].what, Lack::What::place);
    EXPECT_EQ((*wait.lacks)[2].what, Lack::What::company);
    EXPECT_EQ((*wait.lacks)[3].what, Lack::What::otherwise) << "it serves mode none";
}

TEST(QueueNext, SeveralGpusAtOnce) {
    Line line{node({gpu(0, 16130), gpu(1, 16130), gpu(2, 16130)})};
    line.run("a", 0, 16130);
    line.run("b", 1, 8192);
    line.queue.add(waiting_on(2, 16130));
    line.queue.add(waiting_on(2, 1024));
    auto decision = line.next();
    EXPECT_EQ(started(decision), Tickets{});
    EXPECT_EQ(wait_of(decision, 1).lacks->size(), 2U) << "GPU 2 has room";
    line.end("b");
    decision = line.next();
    EXPECT_EQ(started(decision), Tickets{1});
    EXPECT_EQ(decision.starts.front().grant.quotas.size(), 2U);
    EXPECT_EQ(wait_of(decision, 2).why, Why::room);
}

TEST(QueueNext, WhatUnmanagedContainersHoldIsntFree) {
    Line line{v100()};
    line.node.set_held_unmanaged({{uuid(0), model::Bytes::from_mib(8192)}});
    line.queue.add(waiting(8192));
    EXPECT_EQ(started(line.next()), Tickets{});
    line.node.set_held_unmanaged({});
    EXPECT_EQ(started(line.next()), Tickets{1});
}

TEST(QueueNext, WhoIsntManagedWaitsForNothing) {
    Line line{v100()};
    line.run("a", 0, 16130);
    line.queue.add(waiting({{"ALIYUN_COM_GPU_MEM_CONTAINER", ""}}));
    const auto decision = line.next();
    ASSERT_EQ(started(decision), Tickets{1});
    EXPECT_FALSE(decision.starts.front().grant.managed());
}

TEST(QueueNext, ANodeWithoutGpus) {
    Line line{model::Node()};
    line.queue.add(waiting(1024));
    const auto decision = line.next();
    EXPECT_EQ(wait_of(decision, 1).why, Why::gpus);
    EXPECT_FALSE(decision.more);
}

}  // namespace
}  // namespace cgpu::queue
