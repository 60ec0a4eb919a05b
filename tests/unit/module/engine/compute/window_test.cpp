#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/unit/module/engine/support/engine_fixture.hpp"

namespace cgpu::module::test {
namespace {

class WindowTest : public ::testing::Test {
  protected:
    EngineUnderTest engine;
    Pages pages;
    std::int64_t now = 1000 * kMilli;

    void SetUp() override { engine.table.bind(engine.engine, &pages.orders, &pages.reports); }

    TimeGrant request(std::uint64_t stream) {
        return engine.request_time({{0, 0, 7, stream, 1, now}, 0, 0, 0, 0});
    }
    Decision ask(std::uint64_t function, std::uint64_t stream = 1) {
        return engine.enter({0, 0, 7, stream, function, now});
    }
    void close(BatchId batch) { engine.table.closed(engine.engine, batch, now); }
    void end(BatchId batch, std::int64_t start) {
        std::uint32_t ring = 0;
        engine.table.reaped(engine.engine, batch, start, now, now, &ring);
    }
    /// Teaches the engine how long a function takes.
    void teach(std::uint64_t function, std::int64_t ns) {
        const Decision decision = ask(function);
        ASSERT_EQ(decision.act, Act::launch);
        close(decision.batch);
        const std::int64_t start = now;
        now += ns;
        end(decision.batch, start);
    }
    const wire::GpuReport& report() { return pages.reports.gpus[0]; }
};

TEST_F(WindowTest, OneKernelAtATimeWhileItsLengthIsUnknown) {
    const Decision first = ask(1);
    EXPECT_EQ(first.act, Act::launch);
    EXPECT_EQ(first.open, first.batch);
    EXPECT_EQ(first.close, first.batch);
    EXPECT_EQ(first.more, 0u);
    EXPECT_EQ(report().unmeasured, 1u);
    close(first.batch);
    const Decision second = ask(1);
    EXPECT_EQ(second.act, Act::wait);
    EXPECT_EQ(second.reap_first, 1u);
    const std::int64_t start = now;
    now += 3 * kMilli;
    end(first.batch, start);
    EXPECT_EQ(report().unmeasured, 0u);
    EXPECT_EQ(report().used_ns, 3 * kMilli);
    EXPECT_EQ(report().longest_ns, 3 * kMilli);
    EXPECT_EQ(ask(1).act, Act::launch);
    EXPECT_EQ(report().in_flight_ns, 3 * kMilli);
}

TEST_F(WindowTest, AFullWindowRefillsByABatch) {
    teach(1, kMilli);
    EXPECT_EQ(ask(1).act, Act::launch);
    EXPECT_EQ(ask(1).act, Act::launch);
    const std::int64_t began = now;
    const Decision full = ask(1);  // 2 ms in flight
    EXPECT_EQ(full.act, Act::wait);
    EXPECT_EQ(full.reap_first, 1u);
    EXPECT_GT(full.until_ns, now);
    EXPECT_LE(full.until_ns, began + kMilli / 2);
    now = began + kMilli / 2 - 1000;
    EXPECT_EQ(ask(1).act, Act::wait);
    now = began + kMilli / 2;
    EXPECT_EQ(ask(1).act, Act::launch);
}

TEST_F(WindowTest, ItYieldsWhenNothingEndsForLong) {
    teach(1, kMilli);
    ask(1);
    ask(1);
    now += 52 * kMilli + 1;  // more than twice the oldest estimate and 50 ms
    EXPECT_EQ(ask(1, 2).act, Act::launch);
    EXPECT_EQ(ask(2, 3).act, Act::launch);  // an unknown one, too
    EXPECT_EQ(ask(3, 4).act, Act::launch);
    int passed = 0;
    while (passed < 1000 && ask(1, 5).act == Act::launch) ++passed;
    EXPECT_EQ(passed, 62);  // but the queue doesn't fill up without bound
    now += 10 * kMilli;
    EXPECT_EQ(ask(1, 5).act, Act::launch);
}

TEST_F(WindowTest, ItYieldsSoonerWhereThatSetSomethingFree) {
    std::uint64_t unknown = 100;
    // A kernel spins for one that is launched after it, both of unknown duration. Returns how long that one
    // was held.
    const auto round = [&](std::int64_t ends_after) {
        const Decision spins = ask(++unknown);
        EXPECT_EQ(spins.act, Act::launch);
        close(spins.batch);
        const std::int64_t start = now;
        Decision sets = ask(++unknown, 2);
        while (sets.act == Act::wait) {
            now = std::max(now + 1, sets.until_ns);
            sets = ask(unknown, 2);
        }
        const std::int64_t held = now - start;
        if (held < kMilli) {
            EXPECT_EQ(ask(++unknown, 3).act, Act::wait) << "one at a time";
        }
        close(sets.batch);
        now += ends_after;
        end(spins.batch, start);
        end(sets.batch, now - 1000);
        now += 200 * kMilli;
        return held;
    };
    EXPECT_GT(round(kMilli), 50 * kMilli);
    for (int i = 0; i < 5; ++i) EXPECT_LT(round(kMilli), kMilli);
    EXPECT_LT(round(30 * kMilli), kMilli) << "nobody could know";
    EXPECT_GT(round(kMilli), 50 * kMilli);
    EXPECT_LT(round(kMilli), kMilli);
}

// Measured without other instances' work, such a kernel includes its waits; beside other work, a shorter time
// is reliable.
TEST_F(WindowTest, BesideOthersEstimatesOfWhatWaitsSinkAndDontRise) {
    teach(1, 60 * kMilli);
    const auto set = [&](wire::Overlap overlap) {
        pages.orders.gates[0].overlap = static_cast<std::uint32_t>(overlap);
    };
    const auto expected_after = [&](std::int64_t ns) {
        teach(1, ns);
        const Decision decision = ask(1);
        EXPECT_EQ(decision.act, Act::launch);
        const std::int64_t expected = report().in_flight_ns;
        close(decision.batch);
        const std::int64_t start = now;
        now += expected;
        end(decision.batch, start);
        return expected;
    };
    set(wire::Overlap::others);
    EXPECT_EQ(expected_after(100 * kMilli), 60 * kMilli);
    EXPECT_EQ(expected_after(kMilli), 60 * kMilli) << "it may be one whose lengths vary";
    set(wire::Overlap::waits_across_gpus);
    EXPECT_EQ(expected_after(100 * kMilli), 60 * kMilli);
    std::int64_t expected = 60 * kMilli;
    for (int i = 0; i < 20; ++i) expected = expected_after(kMilli);
    EXPECT_LT(expected, 2 * kMilli);
}

TEST_F(WindowTest, ShortKernelsComeInRunsThatEndWithTheBatch) {
    constexpr std::int64_t kEach = 10'000;
    teach(1, kEach);
    std::uint32_t launches = 0;
    std::uint32_t asked = 0;
    BatchId batch = 0;
    TimeRequest request{{0, 0, 7, 1, 1, now}, 0, 0, 0, 0};
    for (;;) {
        request.launch.now_ns = now;
        const TimeGrant grant = engine.request_time(request);
        const Decision& decision = grant.decision;
        ASSERT_EQ(decision.act, Act::launch);
        if (batch == 0) batch = decision.open;
        ASSERT_EQ(decision.batch, batch);
        EXPECT_EQ(grant.close_first, 0u);
        EXPECT_LE(decision.more, 64u);
        EXPECT_TRUE(decision.close == 0 || decision.more == 0);
        const auto passed =
            static_cast<std::uint32_t>(std::min<std::int64_t>(decision.more, grant.time_ns / kEach));
        launches += 1 + passed;
        request.passed = passed;
        request.returned_launches = decision.more - passed;
        request.returned_ns = grant.time_ns - passed * kEach;
        request.returned_batch = decision.batch;
        ++asked;
        now += 1000;
        if (decision.close != 0) break;
    }
    EXPECT_EQ(launches, 50u);  // 500 µs
    EXPECT_LE(asked, 8u);
    EXPECT_EQ(report().launches, 51u);
    EXPECT_EQ(report().in_flight_ns, 500'000);
}

TEST_F(WindowTest, AStreamThatFillsItsBatchesNeedNotShowItsPaceAgain) {
    teach(1, 2'000);
    const auto fill = [&] {
        for (;;) {
            const TimeGrant grant = request(1);
            ASSERT_EQ(grant.decision.act, Act::launch);
            now += std::int64_t{2'000} * (1 + grant.decision.more);
            if (grant.decision.close == 0) continue;
            close(grant.decision.batch);
            return end(grant.decision.batch, now - 500'000);
        }
    };
    EXPECT_EQ(request(1).decision.more, 0U) << "nothing is known of its pace";
    fill();
    EXPECT_EQ(request(2).decision.more, 0U) << "another stream";
    EXPECT_GT(request(1).decision.more, 50U);
    fill();
    now += kMilli;
    EXPECT_EQ(request(1).decision.more, 0U) << "it had paused";
}

TEST_F(WindowTest, UnusedLaunchesAreTakenBack) {
    teach(1, 10'000);
    ask(1);
    const TimeGrant grant = request(1);
    const Decision& run = grant.decision;
    ASSERT_GT(run.more, 0u);
    engine.table.return_time(engine.engine, 0, run.batch, run.more, grant.time_ns);
    EXPECT_EQ(report().in_flight_ns, 20'000);
    EXPECT_EQ(report().launches, 3u);
    engine.table.return_time(engine.engine, 0, run.batch, 1000, kSecond);
    EXPECT_EQ(report().in_flight_ns, 0);
    EXPECT_EQ(report().launches, 1u);
    engine.table.return_time(engine.engine, 0, run.batch + 5, 1, 1);
    engine.table.closed(engine.engine, run.batch + 5, now);
    engine.table.lost(engine.engine, run.batch + 5);
    engine.table.lost(engine.engine, 0);
    EXPECT_EQ(report().used_ns, 10'000);
}

TEST_F(WindowTest, ALostBatchIsChargedByItsEstimate) {
    teach(1, kMilli);
    const Decision decision = ask(1);
    engine.table.lost(engine.engine, decision.batch);
    EXPECT_EQ(report().used_ns, 2 * kMilli);
    EXPECT_EQ(report().in_flight_ns, 0);
}

TEST_F(WindowTest, OpenBatchesAreNamedInTurn) {
    teach(1, 10'000);
    for (std::uint64_t stream = 1; stream <= 3; ++stream) ask(1, stream);
    std::set<BatchId> named;
    OpenBatch open{};
    for (int i = 0; i < 3; ++i) {
        ASSERT_EQ(engine.table.next_open_batch(engine.engine, 0, 7, ~0ull, 0, &open), 1u);
        named.insert(open.batch);
    }
    EXPECT_EQ(named.size(), 3u);
    EXPECT_EQ(engine.table.next_open_batch(engine.engine, 0, 7, 2, 0, &open), 1u);
    EXPECT_EQ(open.stream, 2u);
    EXPECT_EQ(engine.table.next_open_batch(engine.engine, 0, 8, ~0ull, 0, &open), 0u);
    EXPECT_EQ(engine.table.next_open_batch(engine.engine, 0, 7, ~0ull, now, &open), 0u);
    EXPECT_EQ(engine.table.next_open_batch(engine.engine, 0, 7, ~0ull, now + 1, &open), 1u);
}

TEST_F(WindowTest, ALongKernelHidesNoShortOnesOnOtherStreams) {
    teach(1, kMilli);
    teach(2, kMilli);
    const BatchId spins = ask(1, 1).batch;
    close(spins);
    const std::int64_t began = now;
    const BatchId passes = ask(2, 2).batch;
    close(passes);
    EXPECT_EQ(engine.table.oldest(engine.engine, 0, 7), spins);
    EXPECT_EQ(engine.table.following(engine.engine, spins), passes);
    EXPECT_EQ(engine.table.following(engine.engine, passes), 0u);
    now += kMilli;
    end(passes, began);
    EXPECT_EQ(report().used_ns, 3 * kMilli);
    now += 9 * kMilli;
    end(spins, began);
    EXPECT_EQ(report().used_ns, 12 * kMilli);  // together they kept the GPU busy for 10 ms
}

}  // namespace
}  // namespace cgpu::module::test
