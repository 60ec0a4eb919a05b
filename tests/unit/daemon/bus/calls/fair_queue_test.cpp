#include "daemon/bus/calls/fair_queue.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace cgpu::bus::test {
namespace {

using Queue = FairQueue<std::string>;
constexpr uid_t kRoot = 0;
constexpr model::Nanos kMs = 1'000'000;

std::string taken(Queue& queue, model::Nanos now) { return queue.next(now).value_or("nothing"); }

TEST(FairQueue, UsersTakeTurnsHoweverMuchOneHasWaiting) {
    Queue queue;
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(queue.add(7, 1, "flood" + std::to_string(i)));
    ASSERT_TRUE(queue.add(8, 1, "one"));
    ASSERT_TRUE(queue.add(9, 1, "another"));
    EXPECT_EQ(taken(queue, 0), "flood0");
    EXPECT_EQ(taken(queue, 0), "one");
    EXPECT_EQ(taken(queue, 0), "another");
    EXPECT_EQ(taken(queue, 0), "flood1");
    EXPECT_EQ(taken(queue, 0), "flood2");
    EXPECT_EQ(taken(queue, 0), "nothing");
    EXPECT_TRUE(queue.empty());
}

TEST(FairQueue, RootHasEverySecondTurn) {
    Queue queue;
    for (uid_t user = 1000; user < 1500; ++user) ASSERT_TRUE(queue.add(user, 1, "user"));
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(queue.add(kRoot, 1, "root"));
    std::string all;
    for (int i = 0; i < 7; ++i) all += taken(queue, 0)[0];
    EXPECT_EQ(all, "rururuu");
}

TEST(FairQueue, EachUsersItemsAreBounded) {
    Queue queue({.of_root = {3, 100}, .of_user = {6, 10}, .of_others = {8, 100}});
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(queue.add(7, 1, "a"));
    EXPECT_FALSE(queue.add(7, 6, "too long"));
    EXPECT_TRUE(queue.add(7, 5, "b"));
    EXPECT_FALSE(queue.add(7, 0, "too many"));
    for (int i = 0; i < 4; ++i) EXPECT_TRUE(queue.add(8, 1, "c"));
    EXPECT_FALSE(queue.add(8, 1, "too many of all"));
    // Those can't use up root's room, nor that of who has little waiting.
    EXPECT_TRUE(queue.add(9, 1, "e"));
    EXPECT_TRUE(queue.add(kRoot, 1, "d"));
    EXPECT_EQ(taken(queue, 0), "d");
    for (int i = 0; i < 3; ++i) static_cast<void>(queue.next(0));
    EXPECT_TRUE(queue.add(8, 1, "f"));
}

TEST(FairQueue, WhoHasManyWaitingPausesThreeTimesAsLongAsEachTurn) {
    Queue queue;
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(queue.add(7, 1, "flood"));
    EXPECT_EQ(taken(queue, 0), "flood");
    EXPECT_EQ(taken(queue, 10 * kMs), "nothing");
    EXPECT_FALSE(queue.has_next(39 * kMs));
    ASSERT_TRUE(queue.add(8, 1, "one"));
    EXPECT_TRUE(queue.has_next(39 * kMs));
    EXPECT_EQ(taken(queue, 39 * kMs), "one");
    EXPECT_EQ(taken(queue, 39 * kMs), "nothing");
    EXPECT_EQ(taken(queue, 40 * kMs), "flood");
    // However long its turn was, it goes on after a second.
    EXPECT_EQ(taken(queue, 10'000 * kMs), "nothing");
    EXPECT_EQ(taken(queue, 11'000 * kMs), "flood");
}

TEST(FairQueue, WhoHasFewWaitingNeverPauses) {
    Queue queue;
    for (int i = 0; i < 100; ++i) {
        ASSERT_TRUE(queue.add(7, 1, "call"));
        EXPECT_EQ(taken(queue, i * kMs), "call");
    }
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(queue.add(kRoot, 1, "call"));
    for (int i = 0; i < 100; ++i) EXPECT_EQ(taken(queue, i * kMs), "call");
}

/// Users who add as much as they may, and one who waits for each of its items: it never waits for more than
/// one turn of each of the others.
TEST(FairQueue, AQuietUserWaitsForOneTurnOfEachOtherAtMost) {
    std::mt19937 random(42);  // NOLINT: the same each time
    for (int round = 0; round < 200; ++round) {
        Queue queue;
        const auto users = static_cast<uid_t>(1 + random() % 5);
        model::Nanos now = 0;
        int turns_since = 0;
        bool quiet_waits = false;
        for (int step = 0; step < 500; ++step) {
            for (uid_t user = 1; user <= users; ++user)
                for (auto more = random() % 4; more > 0; --more)
                    static_cast<void>(queue.add(user, random() % 20'000, "flood"));
            if (!quiet_waits) {
                ASSERT_TRUE(queue.add(99, 1, "quiet"));
                quiet_waits = true;
                turns_since = 0;
            }
            const auto item = taken(queue, now);
            now += static_cast<model::Nanos>(random() % 10) * kMs;
            if (item == "quiet") {
                quiet_waits = false;
            } else {
                ASSERT_LE(++turns_since, static_cast<int>(users)) << "round " << round;
            }
        }
    }
}

}  // namespace
}  // namespace cgpu::bus::test
