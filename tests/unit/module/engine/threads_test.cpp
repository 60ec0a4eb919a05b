#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include "tests/unit/module/engine/support/engine_fixture.hpp"

namespace cgpu::module::test {
namespace {

constexpr int kThreads = 4;
constexpr int kRounds = 20'000;

TEST(Threads, TakingAndGivingMemoryAtOnceKeepsTheBooks) {
    EngineUnderTest engine;
    Pages pages;
    engine.table.bind(engine.engine, &pages.orders, &pages.reports);
    constexpr std::uint64_t kLease = 20 * wire::kGranule;
    engine.table.lease(engine.engine, 0, kLease);
    std::atomic<std::int64_t> most{0};
    std::vector<std::thread> threads;
    threads.reserve(kThreads);
    for (int thread = 0; thread < kThreads; ++thread) {
        threads.emplace_back([&, thread] {
            std::minstd_rand random(static_cast<unsigned>(thread + 1));
            std::vector<std::uint64_t> held;
            std::uint64_t next = std::uint64_t(thread + 1) << 40;
            for (int i = 0; i < kRounds; ++i) {
                const std::uint64_t bytes = (1 + random() % 3) * wire::kGranule;
                if (random() % 2 == 0 && engine.table.reserve(engine.engine, 0, bytes) == 0) {
                    if (random() % 4 == 0) {
                        engine.table.cancel(engine.engine, 0, bytes);
                    } else {
                        engine.table.commit(engine.engine, 0, Holding::address, next, bytes, bytes);
                        held.push_back(next);
                        next += bytes;
                    }
                } else if (!held.empty()) {
                    EXPECT_EQ(engine.table.release(engine.engine, Holding::address, held.back()), 1u);
                    held.pop_back();
                }
                const auto charged = static_cast<std::int64_t>(engine.table.charged(engine.engine, 0));
                if (charged > most) most = charged;
            }
            for (const std::uint64_t key : held) engine.table.release(engine.engine, Holding::address, key);
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(engine.table.charged(engine.engine, 0), 0u);
    EXPECT_GT(most, 0);
    EXPECT_LE(most, static_cast<std::int64_t>(kLease));
    EXPECT_EQ(engine.table.spare(engine.engine, 0, UINT64_MAX, 0), kLease);
}

TEST(Threads, LaunchingAndReapingAtOnceLeavesNothingInFlight) {
    EngineUnderTest engine;
    Pages pages;
    engine.table.bind(engine.engine, &pages.orders, &pages.reports);
    std::atomic<std::int64_t> clock{1};
    std::atomic<int> running{kThreads};
    std::vector<std::thread> threads;
    threads.reserve(kThreads);
    const auto close_and_reap = [&] {
        OpenBatch open{};
        if (engine.table.next_open_batch(engine.engine, 0, 0, ~0ull, 0, &open) != 0) {
            engine.table.closed(engine.engine, open.batch, clock);
        }
        const BatchId batch = engine.table.oldest(engine.engine, 0, 7);
        const std::int64_t now = clock += 1000;
        std::uint32_t ring = 0;
        if (batch != 0) engine.table.reaped(engine.engine, batch, now - 1000, now, now, &ring);
    };
    for (int thread = 0; thread < kThreads; ++thread) {
        threads.emplace_back([&, thread] {
            bool waiting = false;
            for (int i = 0; i < kRounds || waiting; ++i) {
                const Launch launch{0,
                                    waiting ? waited_code(0) : 0u,
                                    7,
                                    std::uint64_t(thread % 2),
                                    std::uint64_t(i % 5 + 1),
                                    clock += 100};
                const TimeGrant grant = engine.request_time({launch, 3, 0, 0, 0});
                const Decision& decision = grant.decision;
                waiting = decision.act == Act::wait;
                if (grant.close_first != 0) engine.table.closed(engine.engine, grant.close_first, clock);
                if (decision.close != 0) engine.table.closed(engine.engine, decision.close, clock);
                engine.table.return_time(engine.engine, 0, decision.batch, decision.more / 2,
                                         grant.time_ns / 2);
                if (waiting) close_and_reap();
            }
            --running;
        });
    }
    threads.emplace_back([&] {  // the daemon, and a lost connection now and then
        for (int i = 0; running > 0; ++i) {
            pages.set(i % 3 == 0   ? wire::GateState::closed
                      : i % 3 == 1 ? wire::GateState::open
                                   : wire::GateState::free);
            if (i % 50 == 0) engine.table.bind(engine.engine, nullptr, nullptr);
            if (i % 50 == 1) engine.table.bind(engine.engine, &pages.orders, &pages.reports);
            std::this_thread::yield();
        }
    });
    for (std::thread& thread : threads) thread.join();
    engine.table.bind(engine.engine, &pages.orders, &pages.reports);
    // The gate may have been free for all the others, and launches through a free gate are not measured.
    pages.set(wire::GateState::open);
    Decision last{};
    last.act = Act::wait;
    for (std::uint32_t i = 0; i < 10'000 && last.act == Act::wait; ++i) {
        last = engine.enter({0, i, 7, 0, 1, clock += 100});
        if (last.close != 0) engine.table.closed(engine.engine, last.close, clock);
        if (last.act == Act::wait) close_and_reap();
    }
    ASSERT_EQ(last.act, Act::launch);
    for (int i = 0; i < 10'000 && engine.table.poll_at(engine.engine, 0, clock) != INT64_MAX; ++i)
        close_and_reap();
    for (int i = 0; i < 100; ++i) close_and_reap();
    const wire::GpuReport& report = pages.reports.gpus[0];
    EXPECT_EQ(report.in_flight_ns, 0);
    EXPECT_EQ(report.wants, 0u);
    EXPECT_GT(report.launches, 0u);
    EXPECT_GT(report.used_ns, 0);
    EXPECT_LE(report.used_ns, clock);
}

}  // namespace
}  // namespace cgpu::module::test
