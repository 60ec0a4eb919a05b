// What the processes of an instance had of the GPU together, as reports bill it.
#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "daemon/app/compute/instance_processes.hpp"
#include "tests/unit/daemon/app/compute/test_pages.hpp"

namespace cgpu::app {
namespace {

using schedule::GateOrder;
using schedule::kMilli;
using schedule::kSecond;
using test::TestPages;

/// Two processes whose gate is open, seen at one second.
struct Two {
    Two() {
        for (const auto& each : {one, two}) {
            processes.add(each);
            each->its_reports.gpus[0].launches = 1;
        }
        see(1000 * kMilli);
        order(GateOrder::State::open, 1000 * kMilli);
    }
    Nanos see(Nanos now) {
        const Nanos all = processes.read(now).used;
        processes.count(true, now);
        processes.charged(all - std::exchange(measured, all));
        return processes.totals().used;
    }
    void order(GateOrder::State state, Nanos now) {
        GateOrder gate;
        gate.state = state;
        processes.publish(gate, now, now + kSecond);
    }
    /// Of both: what they have measured, and what is in flight since then.
    void measure(Nanos used, Nanos in_flight_since) {
        for (const auto& each : {one, two}) {
            auto& report = each->its_reports.gpus[0];
            report.used_ns = used;
            report.in_flight_ns = in_flight_since != 0 ? kMilli : 0;
            report.oldest_start_ns = in_flight_since;
            report.updated_ns = in_flight_since;
        }
    }
    InstanceProcesses processes{0};
    Nanos measured = 0;  // by both
    std::shared_ptr<TestPages> one = std::make_shared<TestPages>(1);
    std::shared_ptr<TestPages> two = std::make_shared<TestPages>(2);
};

// A job of eight processes was billed for eight times the time of the GPU.
TEST(InstanceProcessesUse, several_processes_together_have_no_more_than_the_time) {
    Two both;
    for (Nanos i = 1; i <= 10; ++i) {
        const Nanos now = (1000 + i * 100) * kMilli;
        both.measure(i * 100 * kMilli, now - kMilli);
        EXPECT_LE(both.see(now), i * 100 * kMilli);
        EXPECT_GE(both.see(now), (i * 100 - 1) * kMilli);
    }
}

TEST(InstanceProcessesUse, of_processes_one_after_the_other_all_counts) {
    Two both;
    both.one->its_reports.gpus[0].used_ns = 400 * kMilli;
    EXPECT_EQ(both.see(1500 * kMilli), 400 * kMilli);
    both.two->its_reports.gpus[0].used_ns = 450 * kMilli;
    EXPECT_EQ(both.see(2000 * kMilli), 850 * kMilli);
    both.processes.remove(both.one->process, 2100 * kMilli);
    both.processes.remove(both.two->process, 2100 * kMilli);
    EXPECT_EQ(both.see(2100 * kMilli), 850 * kMilli);
}

TEST(InstanceProcessesUse, who_is_left_has_measured_the_time_of_who_has_gone) {
    Two both;
    both.measure(900 * kMilli, 0);
    both.processes.remove(both.one->process, 1900 * kMilli);
    EXPECT_EQ(both.see(1901 * kMilli), 901 * kMilli);
    both.two->its_reports.gpus[0].used_ns = 950 * kMilli;
    EXPECT_EQ(both.see(2000 * kMilli), 951 * kMilli);
}

TEST(InstanceProcessesUse, a_long_kernel_counts_when_it_is_measured) {
    Two both;
    both.one->its_reports.gpus[0].in_flight_ns = kMilli;
    both.one->its_reports.gpus[0].oldest_start_ns = 1000 * kMilli;
    for (const auto ms : {1100, 1200, 1900}) EXPECT_EQ(both.see(ms * kMilli), 0);
    both.one->its_reports.gpus[0].used_ns = 990 * kMilli;
    both.one->its_reports.gpus[0].in_flight_ns = 0;
    EXPECT_EQ(both.see(2000 * kMilli), 990 * kMilli);
}

TEST(InstanceProcessesUse, while_the_gate_is_closed_and_nothing_runs_they_have_nothing) {
    Two both;
    both.measure(50 * kMilli, 0);
    EXPECT_EQ(both.see(1050 * kMilli), 50 * kMilli);
    both.order(GateOrder::State::closed, 1050 * kMilli);
    EXPECT_EQ(both.see(1100 * kMilli), 50 * kMilli);
    both.order(GateOrder::State::open, 1100 * kMilli);
    both.measure(80 * kMilli, 0);
    EXPECT_EQ(both.see(1120 * kMilli), 70 * kMilli);
}

/// One process, whose first report is read after a second.
class InstanceProcessesEnd : public ::testing::Test {
  protected:
    InstanceProcessesEnd() {
        processes.add(one);
        (void)processes.read(1000 * kMilli);
    }
    std::shared_ptr<TestPages> one = std::make_shared<TestPages>(1);
    wire::GpuReport& report = one->its_reports.gpus[0];
    InstanceProcesses processes{0};
};

// Whoever killed a process before its kernel ended had the kernel for nothing.
TEST_F(InstanceProcessesEnd, what_a_process_has_in_flight_at_its_end_counts) {
    report.used_ns = 20 * kMilli;
    report.in_flight_ns = 2 * kMilli;
    report.oldest_start_ns = 1100 * kMilli;
    report.updated_ns = 1790 * kMilli;
    (void)processes.read(1790 * kMilli);
    processes.remove(one->process, 1800 * kMilli);
    EXPECT_EQ(processes.read(1810 * kMilli).used, 720 * kMilli);
}

TEST_F(InstanceProcessesEnd, of_a_stopped_process_little_counts_at_its_end) {
    report.in_flight_ns = 2 * kMilli;
    report.oldest_start_ns = report.updated_ns = 1100 * kMilli;
    (void)processes.read(1101 * kMilli);
    processes.remove(one->process, 3600 * kSecond);
    EXPECT_EQ(processes.read(3600 * kSecond).used, 10 * kSecond);
}

TEST_F(InstanceProcessesEnd, at_its_end_a_process_had_no_more_than_its_time) {
    report.used_ns = 95 * kMilli;
    report.in_flight_ns = 40 * kMilli;
    report.oldest_start_ns = 1;
    report.updated_ns = 1100 * kMilli;
    processes.remove(one->process, 1100 * kMilli);
    EXPECT_EQ(processes.read(1100 * kMilli).used, 100 * kMilli);
}

/// One process, of which the slicer charges what it likes.
struct One {
    One() {
        processes.add(page);
        see(0, kSecond, 0);
    }
    Nanos see(Nanos measured, Nanos now, Nanos charged, bool own = true) {
        page->its_reports.gpus[0].used_ns = measured;
        (void)processes.read(now);
        processes.count(own, now);
        processes.charged(charged);
        return processes.totals().used;
    }
    std::shared_ptr<TestPages> page = std::make_shared<TestPages>(1);
    InstanceProcesses processes{0};
};

// Kernels of 700 ms beside a neighbour were billed twice: each measured the other's time, too.
TEST(InstanceProcessesUse, of_work_beside_others_it_is_what_is_charged) {
    One one;
    EXPECT_EQ(one.see(700 * kMilli, 2 * kSecond, 350 * kMilli), 350 * kMilli);
    EXPECT_EQ(one.see(700 * kMilli, 3 * kSecond, -100 * kMilli), 350 * kMilli) << "it never shrinks";
    EXPECT_EQ(one.see(900 * kMilli, 4 * kSecond, 150 * kMilli), 400 * kMilli) << "nor is that forgotten";
}

TEST(InstanceProcessesUse, what_is_charged_while_no_gate_kept_work_apart_is_nobodys) {
    One one;
    EXPECT_EQ(one.see(100 * kMilli, 2 * kSecond, 100 * kMilli), 100 * kMilli);
    EXPECT_EQ(one.see(500 * kMilli, 3 * kSecond, 400 * kMilli, false), 100 * kMilli);
    EXPECT_EQ(one.see(600 * kMilli, 4 * kSecond, 100 * kMilli), 200 * kMilli);
}

// The slicer charges the turns of several processes, with the time in which none of them computes.
TEST(InstanceProcessesUse, of_several_processes_it_is_what_they_have_measured) {
    Two both;
    both.measure(50 * kMilli, 0);
    EXPECT_EQ(both.see(1100 * kMilli), 100 * kMilli);
    both.processes.count(true, 1200 * kMilli);
    both.processes.charged(100 * kMilli);
    EXPECT_EQ(both.processes.totals().used, 100 * kMilli);
}

}  // namespace
}  // namespace cgpu::app
