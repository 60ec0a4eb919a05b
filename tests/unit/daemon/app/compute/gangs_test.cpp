#include "daemon/app/compute/gangs.hpp"

#include "tests/unit/core/support/nodes.hpp"
#include "tests/unit/daemon/app/compute/test_pages.hpp"

namespace cgpu::app {
namespace {

using cgpu::test::gpu;
using cgpu::test::id;
using cgpu::test::instance;
using cgpu::test::quota;
using cgpu::test::uuid;
using schedule::kMilli;
using schedule::kSecond;

constexpr Nanos kHold = 20 * kSecond;

/// Two GPUs and two instances on both of them, with one process each. `pair` has GPU 1 as its first GPU;
/// `other`, whose turns are long, has GPU 0.
class GangsTest : public testing::Test {
  protected:
    GangsTest() {
        EXPECT_TRUE(
            node_.add_instance(instance("other", {quota(0, 1000, 15), quota(1, 1000, 15)})).has_value());
        EXPECT_TRUE(node_.add_instance(instance("pair", {quota(1, 1000), quota(0, 1000)})).has_value());
        for (const auto& each : node_.gpus()) {
            auto& gates =
                gpus_.try_emplace(each.uuid, each, model::Policy::weighted, 5 * kMilli, kHold).first->second;
            gates.update(node_, each);
            const auto index = each.index;
            gates.add(id("other"), index, other_);
            gates.add(id("pair"), 1 - index, pair_);
        }
        gangs_.update(node_, gpus_);
    }

    /// The index of the GPU in the process's pages.
    std::uint32_t place(const test::TestPages& pages, std::uint32_t gpu) const {
        return &pages == pair_.get() ? 1 - gpu : gpu;
    }
    wire::GpuReport& report(test::TestPages& pages, std::uint32_t gpu) {
        return pages.its_reports.gpus[place(pages, gpu)];
    }
    bool open(const test::TestPages& pages, std::uint32_t gpu) const {
        return pages.its_orders.gates[place(pages, gpu)].state.load() ==
               static_cast<std::uint32_t>(wire::GateState::open);
    }
    void want(test::TestPages& pages, std::uint32_t gpu) {
        report(pages, gpu).wants = 1;
        report(pages, gpu).updated_ns = now_;
    }
    void launch(test::TestPages& pages, std::uint32_t gpu, Nanos work) {
        auto& its = report(pages, gpu);
        its.wants = 0;
        its.in_flight_ns = its.oldest_ns = work;
        its.oldest_start_ns = its.updated_ns = now_;
    }
    void compute(test::TestPages& pages, std::uint32_t gpu, Nanos work) {
        report(pages, gpu).used_ns += work;
        report(pages, gpu).updated_ns = now_;
    }
    /// All have rung.
    void step(Nanos dt) {
        for (auto& [uuid, gates] : gpus_) gates.rung();
        wake_at_ = gangs_.step(now_ += dt);
    }

    /// `pair` has a millisecond of work behind its closed gate on `there`, where `other` computes, and a
    /// launch that is held on `here`, where `other` computes, too.
    void catch_pair(std::uint32_t there, std::uint32_t here) {
        step(0);
        want(*pair_, there);
        want(*other_, here);
        step(kMilli);
        ASSERT_TRUE(open(*pair_, there));
        launch(*pair_, there, kMilli);
        want(*other_, there);
        want(*pair_, here);
        for (int i = 0; i < 100 && open(*pair_, there); ++i) {
            compute(*other_, here, kMilli / 4);
            step(kMilli / 4);
        }
        ASSERT_FALSE(open(*pair_, there)) << "its time is up";
    }

    Nanos now_ = kSecond;
    Nanos wake_at_ = 0;
    model::Node node_ = cgpu::test::node({gpu(0, 16130, {.policy = model::Policy::weighted}),
                                          gpu(1, 16130, {.policy = model::Policy::weighted})});
    Gangs::Gpus gpus_;
    Gangs gangs_;
    std::shared_ptr<test::TestPages> pair_ = std::make_shared<test::TestPages>(1);
    std::shared_ptr<test::TestPages> other_ = std::make_shared<test::TestPages>(2);
};

class FromGpuToGpu : public GangsTest, public testing::WithParamInterface<std::uint32_t> {};

// The report of the last GPU also reaches the first one in the same step: nothing rings for it.
TEST_P(FromGpuToGpu, WorkThatWaitsThereLetsALaunchThroughHereInTheSameStep) {
    const auto there = GetParam();
    const auto here = 1 - there;
    catch_pair(there, here);
    if (HasFatalFailure()) return;
    const auto& gates = gpus_.at(uuid(static_cast<std::uint8_t>(there)));
    const auto slot = *gates.slot_of(id("pair"));
    for (int i = 0; i < 200 && !gates.tell(slot).stuck; ++i) {
        compute(*other_, there, kMilli / 4);
        compute(*other_, here, kMilli / 4);
        if (!open(*pair_, here)) want(*pair_, here);
        step(kMilli / 4);
    }
    ASSERT_TRUE(gates.tell(slot).stuck);
    EXPECT_TRUE(gates.tell(slot).waits_across_gpus) << "and from now on it is ganged";
    EXPECT_TRUE(open(*pair_, here));
}

INSTANTIATE_TEST_SUITE_P(Both, FromGpuToGpu, testing::Values(0U, 1U));

TEST_F(GangsTest, WhoIsOnOneGpuHearsNothing) {
    auto node = cgpu::test::node({gpu(0, 16130), gpu(1, 16130)});
    ASSERT_TRUE(node.add_instance(instance("other", {quota(0, 1000)})).has_value());
    ASSERT_TRUE(node.add_instance(instance("pair", {quota(1, 1000)})).has_value());
    for (const auto& each : node.gpus()) gpus_.at(each.uuid).update(node, each);
    gangs_.update(node, gpus_);
    step(kMilli);
    EXPECT_GT(wake_at_, now_ + kSecond) << "and nobody has anything to tell";
}

}  // namespace
}  // namespace cgpu::app
