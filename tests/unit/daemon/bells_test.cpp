#include "daemon/app/bells.hpp"

#include "tests/unit/core/nodes.hpp"
#include "tests/unit/daemon/test_pages.hpp"

namespace cgpu::app {
namespace {

using cgpu::test::gpu;
using cgpu::test::id;
using cgpu::test::instance;
using cgpu::test::quota;
using schedule::kMilli;
using schedule::kSecond;

constexpr Nanos kFarAway = 20 * kSecond;

/// `busy` holds the GPU, for 75 ms at a time, and `held` waits for it and has nothing in flight.
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
        bells_.add(busy_bell_, {{&gates_, *gates_.slot_of(id("busy"))}});
        bells_.add(held_bell_, {{&gates_, *gates_.slot_of(id("held"))}});
    }

    void want(test::TestPages& pages) {
        pages.its_reports.gpus[0].wants = 1;
        pages.its_reports.gpus[0].updated_ns = now_;
    }
    /// Steps of the slicer, at which `busy` is seen to compute.
    void step(int times = 1) {
        for (int i = 0; i < times; ++i) {
            now_ += kMilli / 2;
            busy_->its_reports.gpus[0].updated_ns = now_;
            busy_->its_reports.gpus[0].used_ns.fetch_add(kMilli / 10);
            bells_.hear();
            gates_.step(now_, {});
        }
    }
    /// Whether a wait as of the last step ends at once.
    bool has_news() {
        BellWait wait;
        bells_.listen(wait);
        return wait.changed();
    }

    Nanos now_ = kSecond;
    model::Gpu gpu_ = cgpu::test::v100().gpus().front();
    GpuGates gates_{gpu_, model::Policy::weighted, 5 * kMilli, kFarAway};
    std::shared_ptr<test::TestPages> busy_ = std::make_shared<test::TestPages>(1);
    std::shared_ptr<test::TestPages> held_ = std::make_shared<test::TestPages>(2);
    std::shared_ptr<test::TestBell> busy_bell_ = std::make_shared<test::TestBell>();
    std::shared_ptr<test::TestBell> held_bell_ = std::make_shared<test::TestBell>();
    Bells bells_;
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
    bells_.clear();
    bells_.add(held_bell_, {{&gates_, *gates_.slot_of(id("held"))}, {&other, 0}});
    step(12);
    EXPECT_FALSE(has_news());
    held_bell_->ring();
    EXPECT_TRUE(has_news());
}

}  // namespace
}  // namespace cgpu::app
