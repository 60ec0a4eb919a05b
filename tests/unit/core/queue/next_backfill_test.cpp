#include <gtest/gtest.h>

#include "core/queue/next.hpp"
#include "tests/unit/core/queue/queue_line.hpp"

/// Who may pass because of time limits.
namespace cgpu::queue {
namespace {

using namespace cgpu::test;

TEST(QueueBackfill, TheFirstHasAPlaceFromTheKnownEnds) {
    Line line{node({gpu(0, 16130), gpu(1, 16130)})};
    line.run("a", 0, 8192, 400);
    line.run("b", 1, 8192, 200);
    line.run("c", 1, 4096, 300);
    line.queue.add(waiting(16130));
    const auto wait = wait_of(line.next(), 1);
    EXPECT_EQ(wait.at_latest, 300);
    EXPECT_EQ(wait.gpus, std::vector{uuid(1)});
}

TEST(QueueBackfill, WhatEndsBeforeMayPass) {
    Line line{v100()};
    line.run("a", 0, 8192, 200);
    line.queue.add(waiting(16130));
    line.queue.add(waiting(1024));
    line.queue.add(waiting(1024, 101));
    line.queue.add(waiting(1024, 100));
    const auto decision = line.next();
    EXPECT_EQ(started(decision), Tickets{4}) << "at 200, when a has ended";
    EXPECT_EQ(wait_of(decision, 1).at_latest, 200);
    EXPECT_EQ(wait_of(decision, 3).why, Why::turn);
    EXPECT_EQ(wait_of(decision, 3).behind, 2U);
}

TEST(QueueBackfill, WhatFitsBesideThePlaceMayPass) {
    Line line{node({gpu(0, 16130), gpu(1, 16130)})};
    line.run("a", 0, 8192, 200);
    line.run("b", 1, 12288);
    line.queue.add(waiting(10240));
    line.queue.add(waiting(4096));
    line.queue.add(waiting_for(1, 1024));
    line.queue.add(waiting_for(0, 2048));
    const auto decision = line.next();
    EXPECT_EQ(wait_of(decision, 1).gpus, std::vector{uuid(0)});
    EXPECT_EQ(started(decision), (Tickets{2, 3})) << "the fourth would take of the place";
    EXPECT_EQ(decision.starts.front().grant.quotas.front().gpu, uuid(0));
    EXPECT_EQ(wait_of(decision, 4).behind, 1U);
}

TEST(QueueBackfill, WhatEndsBeforeThePlaceOfOneOfUnknownLengthPassesThoseBehindItToo) {
    Line line{v100()};
    line.run("a", 0, 8192, 200);
    line.queue.add(waiting(16130));
    line.queue.add(waiting(1024));  // it can't start before the first has ended
    line.queue.add(waiting(512, 101));
    line.queue.add(waiting(512, 100));
    EXPECT_EQ(started(line.next()), Tickets{4});
    line.run("b", 0, 1024);
    EXPECT_EQ(started(line.next()), Tickets{}) << "nobody knows when b ends";
}

TEST(QueueBackfill, NobodyPassesWithoutAProofWhereAnEndIsntKnown) {
    Line line{v100()};
    line.run("a", 0, 8192);
    line.queue.add(waiting(16130));
    line.queue.add(waiting(1024, 1));
    EXPECT_EQ(started(line.next()), Tickets{}) << "a may end at once";
    line.run("b", 0, 1024, 150);
    EXPECT_EQ(started(line.next()), Tickets{2}) << "b keeps the first out for longer than that";
    line.now = 149;
    line.queue.add(waiting(1024, 2));
    line.queue.remove(2);
    EXPECT_EQ(started(line.next()), Tickets{});
}

TEST(QueueBackfill, EveryoneBeforeIsAskedNotOnlyTheFirst) {
    Line line{node({gpu(0, 16130), gpu(1, 16130)})};
    line.run("a", 0, 16130, 1000);
    line.run("b", 1, 8192, 200);
    line.queue.add(waiting_for(0, 16130, 100));
    line.queue.add(waiting_for(1, 16130, 100));
    line.queue.add(waiting_for(1, 1024, 500));
    const auto decision = line.next();
    EXPECT_EQ(started(decision), Tickets{}) << "it would be in the second's way";
    EXPECT_EQ(wait_of(decision, 1).at_latest, 1000);
    EXPECT_EQ(wait_of(decision, 2).at_latest, 200);
    EXPECT_EQ(wait_of(decision, 3).at_latest, 300);
    EXPECT_EQ(wait_of(decision, 3).behind, 2U);
}

TEST(QueueBackfill, PlacesFollowEachOther) {
    Line line{v100()};
    line.run("a", 0, 16130, 200);
    for (const Nanos length : {10, 20, 30}) line.queue.add(waiting(16130, length));
    line.queue.add(waiting(16130));
    line.queue.add(waiting(16130, 1));
    const auto decision = line.next();
    EXPECT_EQ(wait_of(decision, 1).at_latest, 200);
    EXPECT_EQ(wait_of(decision, 2).at_latest, 210);
    EXPECT_EQ(wait_of(decision, 3).at_latest, 230);
    EXPECT_EQ(wait_of(decision, 4).at_latest, 260);
    EXPECT_EQ(wait_of(decision, 5).at_latest, std::nullopt) << "nobody knows how long the fourth takes";
}

TEST(QueueBackfill, WhoIsPastItsEndIsAboutToGo) {
    Line line{v100()};
    line.run("a", 0, 8192, 50);
    line.queue.add(waiting(16130));
    line.queue.add(waiting(1024, 10));
    const auto decision = line.next();
    EXPECT_EQ(started(decision), Tickets{});
    EXPECT_EQ(wait_of(decision, 1).at_latest, 101);
}

TEST(QueueBackfill, NobodyTakesComputeThatTheFirstIsToGet) {
    Line line{v100()};
    line.run("a", 0, 8192, 200);
    auto first = waiting(12288, 100);
    first.request.weight = 15;
    line.queue.add(first);
    auto other = waiting(1024);
    for (const std::uint32_t weight : {10U, 5U}) {
        other.request.weight = weight;
        const auto ticket = line.queue.add(other);
        EXPECT_EQ(started(line.next()), weight == 5 ? Tickets{ticket} : Tickets{});
        line.queue.remove(ticket);
    }
}

TEST(QueueBackfill, NobodyDrawsThePlaceOfOneOntoThatOfTheNext) {
    Line line{node({gpu(0, 16000), gpu(1, 16000)})};
    line.run("a", 0, 10000, 200);
    line.run("b", 1, 10000, 200);
    line.queue.add(waiting(8000));          // at 200, on GPU 0
    line.queue.add(waiting_for(1, 12000));  // at 200, on GPU 1
    line.queue.add(
        waiting_for(1, 4000));  // fits beside it, but then the first would go to GPU 1, the fuller one
    line.queue.add(waiting_for(0, 4000));
    const auto decision = line.next();
    EXPECT_EQ(wait_of(decision, 1).gpus, std::vector{uuid(0)});
    EXPECT_EQ(wait_of(decision, 2).gpus, std::vector{uuid(1)});
    EXPECT_EQ(wait_of(decision, 3).why, Why::turn);
    EXPECT_EQ(started(decision), Tickets{4});
}

TEST(QueueBackfill, NothingOfUnknownLengthBeginsWhereOthersRelyOnKnownEnds) {
    Line line{node({gpu(0, 16130), gpu(1, 16130), gpu(2, 16130)})};
    line.run("a", 1, 16130, 200);
    line.run("b", 0, 1024, 150);
    line.queue.add(waiting_on(3, 1024));        // at 200
    line.queue.add(waiting_for(0, 15500));      // not before the first has ended, so not before 200
    line.queue.add(waiting_for(0, 15500, 10));  // so this one passes it at 150
    line.queue.add(waiting_for(2, 1024));       // if the first could start earlier, it couldn't
    line.queue.add(waiting_for(2, 1024, 5000));
    const auto decision = line.next();
    EXPECT_EQ(wait_of(decision, 1).at_latest, 200);
    EXPECT_EQ(wait_of(decision, 3).at_latest, 150);
    EXPECT_EQ(wait_of(decision, 4).why, Why::turn);
    EXPECT_EQ(started(decision), Tickets{5});
}

TEST(QueueBackfill, BehindTheLastPlaceOnlyWhatEndsInTimePasses) {
    Line line{node({gpu(0, 16130), gpu(1, 16130)})};
    line.bounds.reservations = 1;
    line.run("a", 0, 16130, 200);
    line.run("b", 1, 8192, 300);
    line.queue.add(waiting(16130, 10));
    line.queue.add(waiting(16130, 10));
    line.queue.add(waiting(1024, 111));
    line.queue.add(waiting(1024, 110));
    const auto decision = line.next();
    EXPECT_EQ(wait_of(decision, 1).at_latest, 200);
    EXPECT_EQ(wait_of(decision, 2).at_latest, std::nullopt);
    EXPECT_EQ(started(decision), Tickets{4}) << "at 210 the second starts";
}

}  // namespace
}  // namespace cgpu::queue
