#include "daemon/app/compute/slicer_thread.hpp"

#include <chrono>
#include <thread>

#include "tests/unit/core/support/nodes.hpp"
#include "tests/unit/daemon/app/compute/test_pages.hpp"

namespace cgpu::app {
namespace {

using cgpu::test::gpu;
using cgpu::test::instance;
using cgpu::test::quota;
using schedule::kMilli;
using schedule::kSecond;

constexpr Nanos kPatience = 20 * kSecond;

/// A node of this many GPUs with 25 idle instances on each, one process in each.
struct Idle {
    explicit Idle(std::uint8_t gpus) : node(node_of(gpus)) {
        for (std::uint8_t on = 0; on < gpus; ++on)
            for (int i = 0; i < 25; ++i)
                EXPECT_TRUE(node.add_instance(instance("i-" + std::to_string(on) + "-" + std::to_string(i),
                                                       {quota(on, 100)}))
                                .has_value());
        slicer.update(node);
        for (const auto& [id, each] : node.instances()) {
            doorbells.push_back(std::make_shared<test::TestDoorbell>());
            pages.push_back(std::make_shared<test::TestPages>(static_cast<int>(pages.size() + 1)));
            slicer.doorbell_added(id, doorbells.back());
            slicer.process_added(id, pages.back());
        }
    }
    static model::Node node_of(std::uint8_t gpus) {
        std::vector<model::Sighting> all;
        for (std::uint8_t i = 0; i < gpus; ++i)
            all.push_back(gpu(i, 16130, {.policy = model::Policy::weighted, .max_inst = 25}));
        return cgpu::test::node(all);
    }
    /// The number of wakes, once nothing has woken it for a while.
    std::uint64_t wakes_at_rest() {
        const auto deadline = monotonic_now() + kPatience;
        auto before = slicer.wakes();
        while (monotonic_now() < deadline) {
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
            const auto now = slicer.wakes();
            if (now == before) break;
            before = now;
        }
        return before;
    }
    /// How often its gate has changed: a gate that opens for a program that never launches closes again, and
    /// may do so before a test looks.
    std::uint32_t gate_changes(std::size_t i) const { return pages[i]->its_orders.gates[0].seq.load(); }

    model::Node node;
    std::vector<std::shared_ptr<test::TestDoorbell>> doorbells;
    std::vector<std::shared_ptr<test::TestPages>> pages;
    SlicerThread slicer{{5 * kMilli, kSecond}};
};

TEST(SlicerThread, TwoHundredIdleInstancesDontWakeIt) {
    if (!can_wait_for_many()) GTEST_SKIP() << "no futex_waitv: the wait polls";
    Idle idle(8);
    const auto before = idle.wakes_at_rest();
    const auto began = monotonic_now();
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    const auto wakes = idle.slicer.wakes() - before;
    const auto seconds = static_cast<double>(monotonic_now() - began) / kSecond;
    std::printf("200 idle instances on 8 GPUs: %.2f wake-ups a second\n",
                static_cast<double>(wakes) / seconds);
    EXPECT_LE(static_cast<double>(wakes), seconds);
}

TEST(SlicerThread, TheLastOfFourHundredGetsItsTurnWhenItRings) {
    Idle idle(16);
    idle.wakes_at_rest();
    for (const std::size_t i : {399U, 0U, 200U}) {
        const auto while_closed = idle.gate_changes(i);
        ASSERT_NE(while_closed, 0U) << "its gate was never closed: " << i;
        idle.pages[i]->its_reports.gpus[0].wants = 1;
        idle.pages[i]->its_reports.gpus[0].updated_ns = monotonic_now();
        idle.doorbells[i]->ring();
        wake(idle.doorbells[i]->its_doorbell.rings);
        const auto deadline = monotonic_now() + kPatience;
        while (idle.gate_changes(i) == while_closed && monotonic_now() < deadline) std::this_thread::yield();
        EXPECT_NE(idle.gate_changes(i), while_closed) << i;
    }
}

TEST(SlicerThread, WhoRingsWithoutPauseWakesItByTimeOnly) {
    if (!can_wait_for_many()) GTEST_SKIP() << "no futex_waitv: the wait polls";
    for (const bool changes : {true, false}) {
        Idle idle(1);
        const auto before = idle.wakes_at_rest();
        const auto began = monotonic_now();
        while (monotonic_now() < began + kSecond / 2) {
            if (changes) idle.doorbells[7]->ring();
            wake(idle.doorbells[7]->its_doorbell.rings);
        }
        const auto wakes = idle.slicer.wakes() - before;
        const auto most = (monotonic_now() - began) / RingBudget::kEvery +
                          (monotonic_now() - began) / RingBudget::kLookEvery;
        EXPECT_LE(wakes, static_cast<std::uint64_t>(most + Nanos{2} * RingBudget::kBurst)) << changes;
    }
}

}  // namespace
}  // namespace cgpu::app
