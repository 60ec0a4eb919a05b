#include "daemon/app/compute/doorbell_filter.hpp"

#include <thread>

#include "tests/unit/core/support/nodes.hpp"
#include "tests/unit/daemon/app/compute/test_pages.hpp"

namespace cgpu::app {
namespace {

using cgpu::test::gpu;
using cgpu::test::id;
using cgpu::test::instance;
using cgpu::test::quota;
using schedule::kMilli;
using schedule::kSecond;

constexpr Nanos kFarAway = 20 * kSecond;

/// `busy` holds the GPU for 75 ms at a time; `held` waits for it and has nothing in flight.
class BellsTest : public testing::Test {
  protected:
    BellsTest() {
        auto node = cgpu::test::node({gpu(0, 16130, {.policy = model::Policy::weighted})});
        EXPECT_TRUE(node.add_instance(instance("busy", {quota(0, 1000, 15)})).has_value());
        EXPECT_TRUE(node.add_instance(instance("held", {quota(0, 1000)})).has_value());
        gates_.update(node, node.gpus().front());
        gates_.add(id("busy"), 0, busy_);
        gates_.add(id("held"), 0, held_);
        want(*busy_);
        step();
        want(*held_);
        know({{held_bell_, {{&gates_, *gates_.slot_of(id("held"))}}}});
    }

    /// These and `busy`.
    void know(std::vector<DoorbellFilter::Known> others) {
        others.push_back({busy_bell_, {{&gates_, *gates_.slot_of(id("busy"))}}});
        bells_.set_bells(std::move(others));
    }
    void want(test::TestPages& pages) {
        pages.its_reports.gpus[0].wants = 1;
        pages.its_reports.gpus[0].updated_ns = now_;
    }
    /// Steps of the slicer in which `busy` is seen to compute.
    void step(int times = 1) {
        for (int i = 0; i < times; ++i) {
            now_ += kMilli / 2;
            busy_->its_reports.gpus[0].updated_ns = now_;
            busy_->its_reports.gpus[0].used_ns.fetch_add(kMilli / 10);
            bells_.take_rings(now_);
            gates_.step(now_, {});
        }
    }
    /// Whether a wait as of the last step ends at once.
    bool has_news() {
        BellWait wait;
        look_at_ = bells_.listen(wait, now_);
        return wait.changed();
    }

    Nanos now_ = kSecond;
    model::Gpu gpu_ = cgpu::test::v100().gpus().front();
    GpuGates gates_{gpu_, model::Policy::weighted, 5 * kMilli, kFarAway};
    std::shared_ptr<test::TestPages> busy_ = std::make_shared<test::TestPages>(1);
    std::shared_ptr<test::TestPages> held_ = std::make_shared<test::TestPages>(2);
    std::shared_ptr<test::TestBell> busy_bell_ = std::make_shared<test::TestBell>();
    std::shared_ptr<test::TestBell> held_bell_ = std::make_shared<test::TestBell>();
    std::atomic<std::uint32_t> word_{0};
    DoorbellFilter bells_{word_};
    Nanos look_at_ = schedule::kForever;  ///< by the last has_news()
};

TEST_F(BellsTest, WhoHoldsTheGpuIsListenedTo) {
    step(30);
    EXPECT_FALSE(has_news());
    busy_bell_->ring();
    EXPECT_TRUE(has_news());
    step();
    EXPECT_FALSE(has_news()) << "that step has seen why";
}

TEST_F(BellsTest, WhoOnlyWaitsIsNot) {
    step();
    held_bell_->ring();
    EXPECT_TRUE(has_news()) << "its gate has only just closed";
    step(12);
    ASSERT_TRUE(gates_.only_waits(*gates_.slot_of(id("held"))));
    EXPECT_FALSE(has_news());
    held_bell_->ring();
    EXPECT_FALSE(has_news());
}

TEST_F(BellsTest, WhatWasRungUnheardEndsTheFirstWaitThatListensAgain) {
    step(12);
    EXPECT_FALSE(has_news());
    held_bell_->ring();
    step();
    EXPECT_FALSE(has_news());
    while (gates_.only_waits(*gates_.slot_of(id("held")))) step();
    EXPECT_TRUE(has_news());
    step();
    EXPECT_FALSE(has_news());
}

TEST_F(BellsTest, AnInstanceThatWaitsOnOneGpuOnlyIsListenedTo) {
    GpuGates other(gpu_, model::Policy::weighted, 5 * kMilli, kFarAway);
    know({{held_bell_, {{&gates_, *gates_.slot_of(id("held"))}, {&other, 0}}}});
    step(12);
    EXPECT_FALSE(has_news());
    held_bell_->ring();
    EXPECT_TRUE(has_news());
}

TEST_F(BellsTest, AChangeOfTheNodeForgetsNothingThatWasRung) {
    step();
    EXPECT_FALSE(has_news());
    busy_bell_->ring();
    know({});
    EXPECT_TRUE(has_news());
    step();
    EXPECT_FALSE(has_news());
}

TEST_F(BellsTest, WhoRingsTooOftenIsLookedAtByTimeUntilItIsQuiet) {
    step(30);
    EXPECT_FALSE(has_news());
    EXPECT_EQ(look_at_, schedule::kForever);
    int heard = 0;
    for (; heard < 1000; ++heard) {
        busy_bell_->ring();
        if (!has_news()) break;
        bells_.take_rings(now_);
    }
    EXPECT_GE(heard, RingBudget::kBurst - 1) << "that many come together now and then";
    EXPECT_LE(heard, RingBudget::kBurst);
    EXPECT_GT(look_at_, now_);
    EXPECT_LE(look_at_, now_ + RingBudget::kLookEvery);
    held_bell_->ring();
    step(2 * RingBudget::kBurst);
    EXPECT_FALSE(has_news());
    EXPECT_EQ(look_at_, schedule::kForever);
    busy_bell_->ring();
    EXPECT_TRUE(has_news());
}

TEST_F(BellsTest, ANeighbourIsHeardWhileSomebodyRingsTooOften) {
    auto other = std::make_shared<test::TestBell>();
    GpuGates its(gpu_, model::Policy::weighted, 5 * kMilli, kFarAway);
    know({{other, {{&its, 0}}}});
    while (true) {
        busy_bell_->ring();
        if (!has_news()) break;
        bells_.take_rings(now_);
    }
    other->ring();
    EXPECT_TRUE(has_news());
}

TEST_F(BellsTest, AChangeOfTheNodeMakesNobodyQuiet) {
    step(30);
    EXPECT_FALSE(has_news());
    for (int i = 0; i < 2 * RingBudget::kBurst; ++i) {
        busy_bell_->ring();
        bells_.take_rings(now_);
        know({});
    }
    busy_bell_->ring();
    EXPECT_FALSE(has_news());
}

// Others wait for the end of its last work, which it reports after its gate was closed.
TEST_F(BellsTest, WhoWasTooLoudInItsTurnIsHeardWhenItsGateHasClosed) {
    const auto slot = *gates_.slot_of(id("busy"));
    step();
    ASSERT_TRUE(gates_.is_open(slot));
    has_news();
    for (int i = 0; i < 2 * RingBudget::kBurst; ++i) {
        busy_bell_->ring();
        bells_.take_rings(now_);
    }
    busy_bell_->ring();
    EXPECT_FALSE(has_news());
    auto& report = busy_->its_reports.gpus[0];
    for (int i = 0; i < 1000 && gates_.is_open(slot); ++i) {
        report.in_flight_ns = report.oldest_ns = kMilli / 10;
        busy_bell_->ring();
        step();
        has_news();
    }
    ASSERT_FALSE(gates_.is_open(slot));
    busy_bell_->ring();
    EXPECT_TRUE(has_news());
}

// None of its values changes, so only the wait itself can tell which instance caused it.
TEST_F(BellsTest, WhoOnlyWakesTheSlicerIsNotListenedToEither) {
    step(30);
    BellWait wait;
    wait.add(word_);
    int heard = 0;
    for (; heard < 1000; ++heard) {
        wait.clear();
        wait.add(word_);
        static_cast<void>(bells_.listen(wait, now_));
        if (wait.size() == 1) break;
        ASSERT_EQ(wait.size(), 2U) << "the other one only waits";
        bells_.take_rings(now_, 1);
    }
    EXPECT_LE(heard, RingBudget::kBurst / RingBudget::kWakeOnly);
}

/// More instances than one wait takes; all of them are idle.
struct ManyBells : testing::Test {
    explicit ManyBells(std::size_t count = 400) {
        if (!can_wait_for_many()) return;
        std::vector<DoorbellFilter::Known> all;
        for (std::size_t i = 0; i < count; ++i) {
            bells.push_back(std::make_shared<test::TestBell>());
            all.push_back({bells.back(), {{&gates, 0}}});
        }
        known.set_bells(all);
        known.take_rings(kSecond);
    }
    void SetUp() override {
        if (!can_wait_for_many()) GTEST_SKIP() << "no futex_waitv: the wait polls";
    }
    /// A round of the slicer's loop, up to its wait.
    void round() {
        wait.clear();
        wait.add(word);
        known.take_rings(now += kMilli);
        static_cast<void>(known.listen(wait, now));
    }
    /// Whether that wait ends because of a ring; it takes at most 20 s.
    bool told() {
        const auto deadline = monotonic_now() + kFarAway;
        while (!wait.changed() && monotonic_now() < deadline) wait.until(deadline);
        return wait.changed();
    }
    void ring(std::size_t i) {
        bells[i]->ring();
        wake(bells[i]->its_bell.rings);
    }

    GpuGates gates{cgpu::test::v100().gpus().front(), model::Policy::weighted, 5 * kMilli, kFarAway};
    std::vector<std::shared_ptr<test::TestBell>> bells;
    std::atomic<std::uint32_t> word{0};
    DoorbellFilter known{word};
    BellWait wait;
    Nanos now = kSecond;
};

TEST_F(ManyBells, NoWaitIsOfMoreWordsThanTheKernelTakes) {
    round();
    EXPECT_LE(wait.size(), BellWait::kMostWords);
    EXPECT_EQ(known.sleepers().threads(), 3U);
    EXPECT_FALSE(wait.changed());
}

TEST_F(ManyBells, EachOfThemIsHeard) {
    for (std::size_t i = 0; i < bells.size(); ++i) {
        round();
        ring(i);
        ASSERT_TRUE(told()) << i;
    }
    EXPECT_LE(wait.size(), BellWait::kMostWords);
    EXPECT_EQ(known.sleepers().threads(), 3U) << "however often they change places";
}

TEST_F(ManyBells, WhoHasRungIsListenedToByTheSlicerItself) {
    round();
    ring(399);
    ASSERT_TRUE(told());
    round();
    const auto before = word.load();
    ring(399);
    EXPECT_TRUE(wait.changed()) << "at once, without another thread";
    EXPECT_EQ(word.load(), before);
}

TEST_F(ManyBells, OnesThatGoAreLetGo) {
    round();
    std::weak_ptr<test::TestBell> one = bells[0];
    bells.erase(bells.begin(), bells.end() - 100);
    std::vector<DoorbellFilter::Known> rest;
    for (const auto& bell : bells) rest.push_back({bell, {{&gates, 0}}});
    known.set_bells(rest);
    const auto deadline = monotonic_now() + kFarAway;
    while (!one.expired() && monotonic_now() < deadline) std::this_thread::yield();
    EXPECT_TRUE(one.expired()) << "nobody keeps its page mapped";
    for (std::size_t i = 0; i < bells.size(); ++i) {
        round();
        ring(i);
        ASSERT_TRUE(told()) << i;
    }
}

}  // namespace
}  // namespace cgpu::app
