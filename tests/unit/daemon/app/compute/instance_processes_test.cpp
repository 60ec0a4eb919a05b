#include "daemon/app/compute/instance_processes.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <limits>
#include <memory>

#include "tests/unit/daemon/app/compute/test_pages.hpp"

namespace cgpu::app {
namespace {

using schedule::GateOrder;
using schedule::kMilli;
using test::TestPages;

TEST(InstanceProcesses, puts_two_processes_together) {
    InstanceProcesses processes(0);
    auto one = std::make_shared<TestPages>(1);
    auto two = std::make_shared<TestPages>(2);
    processes.add(one);
    processes.add(two);
    (void)processes.read(1000 * kMilli);
    one->its_reports.gpus[0].launches = two->its_reports.gpus[0].launches = 1;
    one->its_reports.gpus[0].used_ns = 3 * kMilli;
    two->its_reports.gpus[0].used_ns = 4 * kMilli;
    two->its_reports.gpus[0].wants = 1;
    two->its_reports.gpus[0].in_flight_ns = 2 * kMilli;
    two->its_reports.gpus[0].oldest_ns = 2 * kMilli;
    two->its_reports.gpus[0].oldest_start_ns = 1009 * kMilli;
    two->its_reports.gpus[0].updated_ns = 1009 * kMilli;
    const auto sum = processes.read(1010 * kMilli);
    EXPECT_EQ(sum.used, 7 * kMilli);
    EXPECT_EQ(sum.in_flight_estimate, 2 * kMilli);
    EXPECT_EQ(sum.remaining, 1 * kMilli);
    EXPECT_TRUE(sum.wants);
    EXPECT_FALSE(sum.alone_process);
    EXPECT_FALSE(sum.stale);
}

TEST(InstanceProcesses, a_report_that_can_not_be_true_names_its_process) {
    InstanceProcesses processes(0);
    auto one = std::make_shared<TestPages>(1);
    auto two = std::make_shared<TestPages>(2);
    processes.add(one);
    processes.add(two);
    for (std::int64_t i = 0; i < 10; ++i) {
        const auto now = (1000 + i) * kMilli;
        one->its_reports.gpus[0].used_ns = i * kMilli;
        one->its_reports.gpus[0].updated_ns = two->its_reports.gpus[0].updated_ns = now;
        (void)processes.read(now);
        ASSERT_FALSE(processes.take_doubtful_process());
    }
    two->its_reports.gpus[0].used_ns = 3'600'000 * kMilli;
    (void)processes.read(1010 * kMilli);
    EXPECT_EQ(processes.take_doubtful_process(), 2);
    EXPECT_FALSE(processes.take_doubtful_process()) << "it was taken";
}

TEST(InstanceProcesses, is_at_work_while_something_waits_or_isnt_done) {
    InstanceProcesses processes(0);
    auto one = std::make_shared<TestPages>(1);
    processes.add(one);
    auto& report = one->its_reports.gpus[0];
    (void)processes.read(1000 * kMilli);
    EXPECT_FALSE(processes.is_at_work());
    report.updated_ns = 1000 * kMilli;
    report.wants = 1;
    (void)processes.read(1010 * kMilli);
    EXPECT_TRUE(processes.is_at_work());
    report.wants = 0;
    report.in_flight_ns = kMilli;
    (void)processes.read(3'600'000 * kMilli);
    EXPECT_TRUE(processes.is_at_work()) << "a kernel of an hour";
    report.in_flight_ns = 0;
    (void)processes.read(3'600'010 * kMilli);
    EXPECT_FALSE(processes.is_at_work());
}

TEST(InstanceProcesses, who_never_launched_here_is_no_second_process) {
    InstanceProcesses processes(0);
    auto one = std::make_shared<TestPages>(1);
    auto two = std::make_shared<TestPages>(2);
    processes.add(one);
    processes.add(two);
    one->its_reports.gpus[0].launches = 10;
    two->its_reports.gpus[1].launches = 10;
    EXPECT_TRUE(processes.read(1000 * kMilli).alone_process) << "it is at work on another GPU";
    two->its_reports.gpus[0].launches = 1;
    EXPECT_FALSE(processes.read(1010 * kMilli).alone_process);
    processes.remove(one->process, 1020 * kMilli);
    EXPECT_TRUE(processes.read(1020 * kMilli).alone_process);
}

TEST(InstanceProcesses, what_a_process_used_stays_when_it_goes) {
    InstanceProcesses processes(0);
    auto one = std::make_shared<TestPages>(1);
    processes.add(one);
    (void)processes.read(1000 * kMilli);
    one->its_reports.gpus[0].used_ns = 5 * kMilli;
    (void)processes.read(1010 * kMilli);
    // Nobody read the page again before it ended.
    one->its_reports.gpus[0].used_ns = 9 * kMilli;
    one->its_reports.gpus[0].launches = 3;
    processes.remove(one->process, 1015 * kMilli);
    EXPECT_EQ(processes.read(1020 * kMilli).used, 9 * kMilli);
    EXPECT_EQ(processes.totals().launches, 3U);
}

TEST(InstanceProcesses, forged_counts_stay_in_range) {
    constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
    InstanceProcesses processes(0);
    auto one = std::make_shared<TestPages>(1);
    auto two = std::make_shared<TestPages>(2);
    for (const auto& pages : {one, two}) {
        auto& report = pages->its_reports.gpus[0];
        report.waited_ns = report.used_ns = report.in_flight_ns = kMost;
        report.wants = 1;
        processes.add(pages);
    }
    for (const Nanos now : {1000 * kMilli, 1010 * kMilli}) {
        const auto sum = processes.read(now);
        EXPECT_LE(sum.used, 20 * kMilli) << "each no more than the time that went by";
        EXPECT_GT(sum.waited, 0);
        GateOrder open;
        open.state = GateOrder::State::open;
        open.limit = sum.used + kMilli;
        processes.publish(open, now, now + kMilli);
        EXPECT_GT(one->its_orders.gates[0].limit_ns, 0);
    }
    processes.remove(one->process, 1020 * kMilli);
    processes.remove(two->process, 1020 * kMilli);
    EXPECT_GT(processes.read(1020 * kMilli).waited, 0);
    EXPECT_GT(processes.totals().waited, 0);
}

TEST(InstanceProcesses, a_stopped_process_is_not_waited_for) {
    InstanceProcesses processes(0);
    auto one = std::make_shared<TestPages>(1);
    processes.add(one);
    one->its_reports.gpus[0].in_flight_ns = 2 * kMilli;
    one->its_reports.gpus[0].updated_ns = 1000 * kMilli;
    EXPECT_FALSE(processes.read(1050 * kMilli).stale);
    const auto later = processes.read(1103 * kMilli);
    EXPECT_TRUE(later.stale);
    EXPECT_EQ(later.in_flight_estimate, 0);
}

TEST(InstanceProcesses, writes_a_gate_once_and_counts_it) {
    InstanceProcesses processes(0);
    auto one = std::make_shared<TestPages>(1);
    processes.add(one);
    (void)processes.read(1000 * kMilli);
    GateOrder open;
    open.state = GateOrder::State::open;
    open.limit = 6 * kMilli;
    processes.publish(open, 1000 * kMilli, 1500 * kMilli);
    const auto seq = one->its_orders.gates[0].seq.load();
    EXPECT_EQ(one->its_orders.gates[0].limit_ns, 6 * kMilli);
    processes.publish(open, 1100 * kMilli, 1600 * kMilli);
    EXPECT_EQ(one->its_orders.gates[0].seq.load(), seq);
    EXPECT_EQ(one->its_orders.gates[0].holds_until_ns, 1600 * kMilli) << "it is told that it holds on";
    processes.publish(open, 1150 * kMilli, 1650 * kMilli);
    EXPECT_GE(one->its_orders.gates[0].holds_until_ns, 1150 * kMilli + 500 * kMilli * 7 / 8);
    EXPECT_EQ(one->its_orders.gates[0].window_us.load(), 0U);
    open.alone = true;
    processes.publish(open, 1000 * kMilli, 1600 * kMilli);
    EXPECT_EQ(one->its_orders.gates[0].seq.load(), seq + 1);
    EXPECT_GT(one->its_orders.gates[0].window_us.load(), 2000U) << "it may be wider than the usual one,";
    EXPECT_LE(one->its_orders.gates[0].window_us.load(), 100'000U) << "but a newcomer waits 100 ms at most";
    processes.publish({}, 1000 * kMilli, 1600 * kMilli);
    EXPECT_EQ(one->its_orders.gates[0].seq.load(), seq + 2);
    EXPECT_EQ(one->its_orders.gates[0].window_us.load(), 0U);
    EXPECT_EQ(one->its_orders.gates[0].state.load(), static_cast<std::uint32_t>(wire::GateState::closed));
}

TEST(InstanceProcesses, who_is_called_and_does_not_come_is_not_waited_for) {
    InstanceProcesses processes(0);
    auto one = std::make_shared<TestPages>(1);
    auto& report = one->its_reports.gpus[0];
    processes.add(one);
    report.updated_ns = 900 * kMilli;
    report.wants = 1;
    EXPECT_TRUE(processes.read(1000 * kMilli).wants);
    processes.publish({}, 1000 * kMilli, 2000 * kMilli);
    EXPECT_TRUE(processes.read(1600 * kMilli).wants) << "nobody has called it";
    GateOrder open;
    open.state = GateOrder::State::open;
    processes.publish(open, 1600 * kMilli, 2000 * kMilli);
    EXPECT_TRUE(processes.read(1640 * kMilli).wants) << "it may be on its way";
    processes.publish({}, 1640 * kMilli, 2000 * kMilli);
    const auto unresponsive = processes.read(1660 * kMilli);
    EXPECT_FALSE(unresponsive.wants) << "whether the gate is still open or not";
    EXPECT_TRUE(processes.has_unresponsive_process());
    EXPECT_EQ(processes.read(1900 * kMilli).waited, unresponsive.waited) << "nor is it waiting";
    report.updated_ns = 1910 * kMilli;
    EXPECT_TRUE(processes.read(1920 * kMilli).wants) << "it goes on";
    EXPECT_FALSE(processes.has_unresponsive_process());
}

TEST(InstanceProcesses, CountsTheWaitsOfAllProcesses) {
    InstanceProcesses processes(0);
    auto one = std::make_shared<TestPages>(1);
    auto two = std::make_shared<TestPages>(2);
    processes.add(one);
    processes.add(two);
    wire::LaunchWaits& waits = one->its_reports.waits[0];
    waits.counts[3] = 5;
    waits.sum_ns = 9 * kMilli;
    two->its_reports.waits[0].counts[3] = 2;
    two->its_reports.waits[1].counts[3] = 100;  // another GPU's
    EXPECT_EQ(processes.launch_waits().counts[3], 7u);
    waits.counts[3] = 0xffff'ffff;
    EXPECT_EQ(processes.launch_waits().counts[3], 2u + 0xffff'ffffull);
    waits.counts[3] = 4;
    EXPECT_EQ(processes.launch_waits().counts[3], 2u + 0x1'0000'0004u) << "it has wrapped";
    waits.counts[0] = 1;
    waits.sum_ns = 8 * kMilli;
    EXPECT_EQ(processes.launch_waits().sum, 9 * kMilli) << "a sum never shrinks";
    waits.sum_ns = std::numeric_limits<std::int64_t>::max();
    EXPECT_LE(processes.launch_waits().sum, Nanos{1} << 61) << "nobody can wait that long";
    waits.counts[0] = 3;
    processes.remove(one->process, kMilli);
    EXPECT_EQ(processes.launch_waits().counts[0], 3u) << "what it did last counts, too";
    EXPECT_EQ(processes.launch_waits().counts[3], 2u + 0x1'0000'0004u);
}

/// One process whose launch is held at a gate that was closed at 1000 ms.
struct Held : testing::Test {
    Held() {
        processes.add(one);
        report.used_ns = 7 * kMilli;
        report.updated_ns = 990 * kMilli;
        report.wants = 1;
        (void)processes.read(1000 * kMilli);
        processes.publish({}, 1000 * kMilli, 2000 * kMilli);
    }
    schedule::Reading read(Nanos milliseconds) { return processes.read(milliseconds * kMilli); }

    InstanceProcesses processes{0};
    std::shared_ptr<TestPages> one = std::make_shared<TestPages>(1);
    wire::GpuReport& report = one->its_reports.gpus[0];
};

TEST_F(Held, OnlyWaitsOnceNothingCanBeUnderWayAnyMore) {
    EXPECT_FALSE(processes.only_waits());
    (void)read(1002);
    EXPECT_FALSE(processes.only_waits()) << "a launch may have passed just before";
    (void)read(1006);
    EXPECT_TRUE(processes.only_waits());
    GateOrder open;
    open.state = GateOrder::State::open;
    processes.publish(open, 1007 * kMilli, 2000 * kMilli);
    EXPECT_FALSE(processes.only_waits());
}

TEST_F(Held, WaitsForMoreWhileSomethingOfItRuns) {
    auto two = std::make_shared<TestPages>(2);
    two->its_reports.gpus[0].in_flight_ns = two->its_reports.gpus[0].oldest_ns = 3 * kMilli;
    two->its_reports.gpus[0].updated_ns = 1000 * kMilli;
    processes.add(two);
    (void)read(1020);
    EXPECT_FALSE(processes.only_waits()) << "its doorbell tells when that is done";
    (void)read(1500);
    EXPECT_FALSE(processes.only_waits()) << "a stopped process may go on";
    two->its_reports.gpus[0].in_flight_ns = 0;
    (void)read(1510);
    EXPECT_TRUE(processes.only_waits());
}

TEST_F(Held, IsNobodyWhoWantsNothing) {
    report.wants = 0;
    (void)read(1020);
    EXPECT_FALSE(processes.only_waits()) << "it rings when it comes";
}

TEST_F(Held, IsListenedToWhileItMayBeUnresponsive) {
    GateOrder open;
    open.state = GateOrder::State::open;
    processes.publish(open, 1010 * kMilli, 2000 * kMilli);
    processes.publish({}, 1011 * kMilli, 2000 * kMilli);
    (void)read(1030);
    EXPECT_FALSE(processes.only_waits()) << "called, and hasn't moved since";
}

TEST_F(Held, IsLookedAtNowAndThenAndWaitsOnMeanwhile) {
    const auto before = read(1006);
    report.wants = 0;  // as no honest page does
    report.used_ns = 9 * kMilli;
    const auto soon = read(1016);
    EXPECT_TRUE(soon.wants);
    EXPECT_EQ(soon.used, before.used);
    EXPECT_EQ(soon.waited, before.waited + 10 * kMilli);
    const auto later = read(1026);
    EXPECT_FALSE(later.wants);
    EXPECT_EQ(later.used, before.used + 2 * kMilli);
}

TEST_F(Held, OfSeveralProcessesEachWaits) {
    auto two = std::make_shared<TestPages>(2);
    two->its_reports.gpus[0].wants = 1;
    two->its_reports.gpus[0].updated_ns = 1000 * kMilli;
    processes.add(two);
    const auto before = read(1010);
    ASSERT_TRUE(processes.only_waits());
    EXPECT_EQ(read(1020).waited, before.waited + 20 * kMilli);
    processes.remove(two->process, 1020 * kMilli);
    EXPECT_FALSE(processes.only_waits()) << "what was read of both is not what the other says";
    EXPECT_EQ(read(1021).waited, 31 * kMilli);
}

TEST_F(Held, AProcessThatComesIsToldOfItsGateAtOnce) {
    (void)read(1010);
    processes.publish({}, 1010 * kMilli, 2010 * kMilli);
    auto two = std::make_shared<TestPages>(2);
    processes.add(two);
    (void)read(1011);
    GateOrder closed;
    closed.contended = true;
    processes.publish(closed, 1011 * kMilli, 2011 * kMilli);
    EXPECT_EQ(two->its_orders.gates[0].contended, 1U);
    EXPECT_EQ(two->its_orders.gates[0].holds_until_ns, 2011 * kMilli);
}

TEST_F(Held, ItsGateIsRenewedWellBeforeItRunsOut) {
    for (Nanos now = 1000; now < 9000; now += 7) {
        (void)read(now);
        processes.publish({}, now * kMilli, (now + 1000) * kMilli);
        ASSERT_GE(one->its_orders.gates[0].holds_until_ns.load(), (now + 870) * kMilli) << now;
    }
}

TEST(InstanceProcesses, survives_whatever_a_page_says) {
    rc::check("figures stay within what is possible", [] {
        InstanceProcesses processes(3);
        auto one = std::make_shared<TestPages>(1);
        processes.add(one);
        Nanos now = 1000 * kMilli;
        Nanos used = 0;
        (void)processes.read(now);
        for (int i = 0; i < 20; ++i) {
            auto& report = one->its_reports.gpus[3];
            report.used_ns = *rc::gen::arbitrary<Nanos>();
            report.in_flight_ns = *rc::gen::arbitrary<Nanos>();
            report.oldest_start_ns = *rc::gen::arbitrary<Nanos>();
            report.oldest_ns = *rc::gen::arbitrary<Nanos>();
            report.updated_ns = *rc::gen::arbitrary<Nanos>();
            report.usual_gap_ns = *rc::gen::arbitrary<Nanos>();
            report.wants = *rc::gen::arbitrary<std::uint32_t>();
            now += kMilli;
            const auto sum = processes.read(now);
            RC_ASSERT(sum.used >= used && sum.used <= now - 1000 * kMilli);
            RC_ASSERT(sum.in_flight_estimate >= 0 && sum.in_flight_estimate <= 10'000 * kMilli);
            RC_ASSERT(sum.remaining >= 0 && sum.remaining <= 10'000 * kMilli);
            RC_ASSERT(sum.usual_gap >= 0);
            used = sum.used;
            GateOrder gate;
            gate.state = GateOrder::State::open;
            gate.limit = sum.used + sum.in_flight_estimate + kMilli;
            processes.publish(gate, now, now);
            RC_ASSERT(one->its_orders.gates[3].limit_ns >= 0);
        }
    });
}

}  // namespace
}  // namespace cgpu::app
