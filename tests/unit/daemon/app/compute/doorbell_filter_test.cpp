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
class DoorbellsTest : public testing::Test {
  protected:
    DoorbellsTest() {
        auto node = cgpu::test::node({gpu(0, 16130, {.policy = model::Policy::weighted})});
        EXPECT_TRUE(node.add_instance(instance("busy", {quota(0, 1000, 15)})).has_value());
        EXPECT_TRUE(node.add_instance(instance("held", {quota(0, 1000)})).has_value());
        gates_.update(node, node.gpus().front());
        gates_.add(id("busy"), 0, busy_);
        gates_.add(id("held"), 0, held_);
        want(*busy_);
        step();
        want(*held_);
        know({{held_doorbell_, {{&gates_, *gates_.slot_of(id("held"))}}}});
    }

    /// These and `busy`.
    void know(std::vector<DoorbellFilter::Known> others) {
        others.push_back({busy_doorbell_, {{&gates_, *gates_.slot_of(id("busy"))}}});
        doorbells_.set_doorbells(std::move(others));
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
            doorbells_.take_rings(now_);
            gates_.step(now_, {});
        }
    }
    /// Whether a wait as of the last step ends at once.
    bool has_news() {
        DoorbellWait wait;
        look_at_ = doorbells_.listen(wait, now_);
        return wait.changed();
    }

    Nanos now_ = kSecond;
    model::Gpu gpu_ = cgpu::test::v100().gpus().front();
    GpuGates gates_{gpu_, model::Policy::weighted, 5 * kMilli, kFarAway};
    std::shared_ptr<test::TestPages> busy_ = std::make_shared<test::TestPages>(1);
    std::shared_ptr<test::TestPages> held_ = std::make_shared<test::TestPages>(2);
    std::shared_ptr<test::TestDoorbell> busy_doorbell_ = std::make_shared<test::TestDoorbell>();
    std::shared_ptr<test::TestDoorbell> held_doorbell_ = std::make_shared<test::TestDoorbell>();
    std::atomic<std::uint32_t> word_{0};
    DoorbellFilter doorbells_{word_};
    Nanos look_at_ = schedule::kForever;  ///< by the last has_news()
};

TEST_F(DoorbellsTest, WhoHoldsTheGpuIsListenedTo) {
    step(30);
    EXPECT_FALSE(has_news());
    busy_doorbell_->ring();
    EXPECT_TRUE(has_news());
    step();
    EXPECT_FALSE(has_news()) << "that step has seen why";
}

TEST_F(DoorbellsTest, WhoOnlyWaitsIsNot) {
    step();
    held_doorbell_->ring();
    EXPECT_TRUE(has_news()) << "its gate has only just closed";
    step(12);
    ASSERT_TRUE(gates_.only_waits(*gates_.slot_of(id("held"))));
    EXPECT_FALSE(has_news());
    held_doorbell_->ring();
    EXPECT_FALSE(has_news());
}

TEST_F(DoorbellsTest, WhatWasRungUnheardEndsTheFirstWaitThatListensAgain) {
    step(12);
    EXPECT_FALSE(has_news());
    held_doorbell_->ring();
    step();
    EXPECT_FALSE(has_news());
    while (gates_.only_waits(*gates_.slot_of(id("held")))) step();
    EXPECT_TRUE(has_news());
    step();
    EXPECT_FALSE(has_news());
}

TEST_F(DoorbellsTest, AnInstanceThatWaitsOnOneGpuOnlyIsListenedTo) {
    GpuGates other(gpu_, model::Policy::weighted, 5 * kMilli, kFarAway);
    know({{held_doorbell_, {{&gates_, *gates_.slot_of(id("held"))}, {&other, 0}}}});
    step(12);
    EXPECT_FALSE(has_news());
    held_doorbell_->ring();
    EXPECT_TRUE(has_news());
}

TEST_F(DoorbellsTest, AChangeOfTheNodeForgetsNothingThatWasRung) {
    step();
    EXPECT_FALSE(has_news());
    busy_doorbell_->ring();
    know({});
    EXPECT_TRUE(has_news());
    step();
    EXPECT_FALSE(has_news());
}

TEST_F(DoorbellsTest, WhoRingsTooOftenIsLookedAtByTimeUntilItIsQuiet) {
    step(30);
    EXPECT_FALSE(has_news());
    EXPECT_EQ(look_at_, schedule::kForever);
    int heard = 0;
    for (; heard < 1000; ++heard) {
        busy_doorbell_->ring();
        if (!has_news()) break;
        doorbells_.take_rings(now_);
    }
    EXPECT_GE(heard, RingBudget::kBurst - 1) << "that many come together now and then";
    EXPECT_LE(heard, RingBudget::kBurst);
    EXPECT_GT(look_at_, now_);
    EXPECT_LE(look_at_, now_ + RingBudget::kLookEvery);
    held_doorbell_->ring();
    step(2 * RingBudget::kBurst);
    EXPECT_FALSE(has_news());
    EXPECT_EQ(look_at_, schedule::kForever);
    busy_doorbell_->ring();
    EXPECT_TRUE(has_news());
}

TEST_F(DoorbellsTest, ANeighbourIsHeardWhileSomebodyRingsTooOften) {
    auto other = std::make_shared<test::TestDoorbell>();
    GpuGates its(gpu_, model::Policy::weighted, 5 * kMilli, kFarAway);
    know({{other, {{&its, 0}}}});
    while (true) {
        busy_doorbell_->ring();
        if (!has_news()) break;
        doorbells_.take_rings(now_);
    }
    other->ring();
    EXPECT_TRUE(has_news());
}

TEST_F(DoorbellsTest, AChangeOfTheNodeMakesNobodyQuiet) {
    step(30);
    EXPECT_FALSE(has_news());
    for (int i = 0; i < 2 * RingBudget::kBurst; ++i) {
        busy_doorbell_->ring();
        doorbells_.take_rings(now_);
        know({});
    }
    busy_doorbell_->ring();
    EXPECT_FALSE(has_news());
}

// Others wait for the end of its last work, which it reports after its gate was closed.
TEST_F(DoorbellsTest, WhoWasTooLoudInItsTurnIsHeardWhenItsGateHasClosed) {
    const auto slot = *gates_.slot_of(id("busy"));
    step();
    ASSERT_TRUE(gates_.is_open(slot));
    has_news();
    for (int i = 0; i < 2 * RingBudget::kBurst; ++i) {
        busy_doorbell_->ring();
        doorbells_.take_rings(now_);
    }
    busy_doorbell_->ring();
    EXPECT_FALSE(has_news());
    auto& report = busy_->its_reports.gpus[0];
    for (int i = 0; i < 1000 && gates_.is_open(slot); ++i) {
        report.in_flight_ns = report.oldest_ns = kMilli / 10;
        busy_doorbell_->ring();
        step();
        has_news();
    }
    ASSERT_FALSE(gates_.is_open(slot));
    busy_doorbell_->ring();
    EXPECT_TRUE(has_news());
}

// None of its values changes, so only the wait itself can tell which instance caused it.
TEST_F(DoorbellsTest, WhoOnlyWakesTheSlicerIsNotListenedToEither) {
    step(30);
    DoorbellWait wait;
    wait.add(word_);
    int heard = 0;
    for (; heard < 1000; ++heard) {
        wait.clear();
        wait.add(word_);
        static_cast<void>(doorbells_.listen(wait, now_));
        if (wait.size() == 1) break;
        ASSERT_EQ(wait.size(), 2U) << "the other one only waits";
        doorbells_.take_rings(now_, 1);
    }
    EXPECT_LE(heard, RingBudget::kBurst / RingBudget::kWakeOnly);
}

/// More instances than one wait takes; all of them are idle.
struct ManyDoorbells : testing::Test {
    explicit ManyDoorbells(std::size_t count = 400) {
        if (!can_wait_for_many()) return;
        std::vector<DoorbellFilter::Known> all;
        for (std::size_t i = 0; i < count; ++i) {
            doorbells.push_back(std::make_shared<test::TestDoorbell>());
            all.push_back({doorbells.back(), {{&gates, 0}}});
        }
        known.set_doorbells(all);
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
        doorbells[i]->ring();
        wake(doorbells[i]->its_doorbell.rings);
    }

    GpuGates gates{cgpu::test::v100().gpus().front(), model::Policy::weighted, 5 * kMilli, kFarAway};
    std::vector<std::shared_ptr<test::TestDoorbell>> doorbells;
    std::atomic<std::uint32_t> word{0};
    DoorbellFilter known{word};
    DoorbellWait wait;
    Nanos now = kSecond;
};

TEST_F(ManyDoorbells, NoWaitIsOfMoreWordsThanTheKernelTakes) {
    round();
    EXPECT_LE(wait.size(), DoorbellWait::kMostWords);
    EXPECT_EQ(known.sleepers().threads(), 3U);
    EXPECT_FALSE(wait.changed());
}

TEST_F(ManyDoorbells, EachOfThemIsHeard) {
    for (std::size_t i = 0; i < doorbells.size(); ++i) {
        round();
        ring(i);
        ASSERT_TRUE(told()) << i;
    }
    EXPECT_LE(wait.size(), DoorbellWait::kMostWords);
    EXPECT_EQ(known.sleepers().threads(), 3U) << "however often they change places";
}

TEST_F(ManyDoorbells, WhoHasRungIsListenedToByTheSlicerItself) {
    round();
    ring(399);
    ASSERT_TRUE(told());
    round();
    const auto before = word.load();
    ring(399);
    EXPECT_TRUE(wait.changed()) << "at once, without another thread";
    EXPECT_EQ(word.load(), before);
}

TEST_F(ManyDoorbells, OnesThatGoAreLetGo) {
    round();
    std::weak_ptr<test::TestDoorbell> one = doorbells[0];
    doorbells.erase(doorbells.begin(), doorbells.end() - 100);
    std::vector<DoorbellFilter::Known> rest;
    for (const auto& doorbell : doorbells) rest.push_back({doorbell, {{&gates, 0}}});
    known.set_doorbells(rest);
    const auto deadline = monotonic_now() + kFarAway;
    while (!one.expired() && monotonic_now() < deadline) std::this_thread::yield();
    EXPECT_TRUE(one.expired()) << "nobody keeps its page mapped";
    for (std::size_t i = 0; i < doorbells.size(); ++i) {
        round();
        ring(i);
        ASSERT_TRUE(told()) << i;
    }
}

}  // namespace
}  // namespace cgpu::app
