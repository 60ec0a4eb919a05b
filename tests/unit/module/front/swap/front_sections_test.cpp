// The engine's sections alone: which threads wait for which.
#include "module/front/swap/sections.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "module/front/swap/engine.hpp"

namespace cgpu::front {
namespace {

using wire::SwitchResult;

constexpr std::uint32_t kPresent = CGPU_PRESENT_VERSION;
constexpr std::uint32_t kNext = CGPU_NEXT_VERSION;

bool eventually(const std::function<bool()>& condition) {
    const auto until = now_ns() + 20 * kSecond;
    while (!condition()) {
        if (now_ns() > until) return false;
        std::this_thread::yield();
    }
    return true;
}

class SectionsTest : public testing::Test {
  protected:
    void SetUp() override {
        static int runs = 0;
        if (runs++ > 0) GTEST_SKIP() << "one process per test: run this with ctest, or with --gtest_filter";
        ASSERT_TRUE(engine_.load("present.so"));
        engine_.lease(0, 4 * wire::kGranule);
    }

    SwitchResult go_over(const char* file, std::uint32_t version, std::uint32_t deadline_ms = 20'000) {
        auto order = wire::make_message<wire::Switch>(7);
        order.version = version;
        order.deadline_ms = deadline_ms;
        std::strncpy(order.engine, file, sizeof order.engine - 1);
        answer_ = engine_.exchange(order);
        EXPECT_EQ(answer_.header.request, 7u);
        return answer_.result;
    }
    SwitchResult there(std::uint32_t deadline_ms = 20'000) { return go_over("next.so", kNext, deadline_ms); }
    SwitchResult back() { return go_over("present.so", kPresent); }

    static EngineHandle engine_;  // what it has loaded in the end is of the process, as in a front
    wire::Switched answer_{};
};

constinit EngineHandle SectionsTest::engine_;

TEST_F(SectionsTest, WhoIsInsideIsWaitedForUntilTheDeadline) {
    std::atomic<int> stage{0};
    std::thread inside([&] {
        {
            const Section section;
            stage = 1;
            EXPECT_TRUE(eventually([&] { return stage == 2; }));
        }
        stage = 3;
    });
    ASSERT_TRUE(eventually([&] { return stage == 1; }));
    EXPECT_EQ(there(100), SwitchResult::busy);
    EXPECT_STRNE(answer_.detail, "");
    EXPECT_EQ(answer_.version, kPresent);
    EXPECT_EQ(engine_.leased(0), 4 * wire::kGranule);  // all are let in again
    stage = 2;
    inside.join();
    EXPECT_EQ(there(), SwitchResult::done) << answer_.detail;
    EXPECT_EQ(answer_.version, kNext);
    EXPECT_EQ(engine_.leased(0), 4 * wire::kGranule);
}

TEST_F(SectionsTest, OthersGoOnBetweenTheTries) {
    std::atomic<bool> stop{false};
    std::atomic<int> calls{0};
    const Section section;  // of this thread, which another one's exchange waits for
    std::thread exchange([&] {
        EXPECT_EQ(there(500), SwitchResult::busy);
        stop = true;
    });
    std::thread other([&] {
        while (!stop) {
            EXPECT_EQ(engine_.leased(0), 4 * wire::kGranule);
            ++calls;
        }
    });
    exchange.join();
    other.join();
    EXPECT_GT(calls, 1000);
    EXPECT_LT(answer_.held_ns, 500'000'000u);  // no single try took all the time
}

TEST_F(SectionsTest, ACallWithinASectionIsNotHeld) {
    std::atomic<bool> asked{false};
    std::thread exchange;
    {
        const Section section;
        exchange = std::thread([&] {
            asked = true;
            EXPECT_EQ(there(), SwitchResult::done) << answer_.detail;
        });
        // As in a signal handler, whether or not all others are kept out at the moment.
        for (int i = 0; i < 1000 || !asked; ++i) EXPECT_EQ(engine_.leased(0), 4 * wire::kGranule);
    }
    exchange.join();
    EXPECT_EQ(engine_.leased(0), 4 * wire::kGranule);
}

TEST(SectionsOfNothing, WhereNothingIsInForceCallsDoNothing) {
    static constinit EngineHandle engine;
    EXPECT_EQ(engine.leased(0), 0u);
    EXPECT_EQ(engine.reserve(0, 1), 0u);
    module::TimeGrant grant{};
    engine.request_time({{0, 0, 1, 2, 3, 4}, 0, 0, 0, 0}, grant);
    EXPECT_EQ(grant.decision.batch, 0u);
    EXPECT_EQ(grant.decision.more, 0u);
    engine.return_time(0, 1, 1, 1);
    ASSERT_TRUE(engine.load("present.so"));
    EXPECT_NE(engine.reserve(0, 1), 0u);
}

EngineHandle* engine_of_ending_threads = nullptr;
std::atomic<int> calls_of_ending_threads{0};

/// Destructors of thread-specific data run in any order: some of the program's run when this thread has
/// returned its slot, and may still free memory.
void call_at_the_end(void*) {
    for (int i = 0; i < 100; ++i) {
        const Section outer;
        EXPECT_EQ(engine_of_ending_threads->leased(0), 4 * wire::kGranule);
        ++calls_of_ending_threads;
    }
}

TEST_F(SectionsTest, ThreadsThatEndMayStillCall) {
    engine_of_ending_threads = &engine_;
    engine_.leased(0);  // the sections' key comes before this one
    pthread_key_t key{};
    ASSERT_EQ(pthread_key_create(&key, call_at_the_end), 0);
    std::atomic<bool> stop{false};
    std::vector<std::thread> sources;
    sources.reserve(4);
    for (int i = 0; i < 4; ++i) {
        sources.emplace_back([&] {
            while (!stop) {
                std::thread([&] {
                    EXPECT_EQ(engine_.leased(0), 4 * wire::kGranule);
                    pthread_setspecific(key, &engine_);
                }).join();
            }
        });
    }
    for (int i = 0; i < 100; ++i)
        EXPECT_EQ(i % 2 == 0 ? there() : back(), SwitchResult::done) << answer_.detail;
    EXPECT_TRUE(eventually([] { return calls_of_ending_threads > 1000; }));
    stop = true;
    for (auto& source : sources) source.join();
}

TEST_F(SectionsTest, MoreThreadsThanAnybodyCounts) {
    std::atomic<int> in{0};
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    threads.reserve(500);
    for (int i = 0; i < 500; ++i) {
        threads.emplace_back([&] {
            EXPECT_EQ(engine_.leased(0), 4 * wire::kGranule);
            ++in;
            while (!stop) usleep(1000);
            EXPECT_EQ(engine_.leased(0), 4 * wire::kGranule);
        });
    }
    EXPECT_TRUE(eventually([&] { return in == 500; }));
    EXPECT_EQ(there(), SwitchResult::done) << answer_.detail;
    stop = true;
    for (auto& thread : threads) thread.join();
}

}  // namespace
}  // namespace cgpu::front
