// Processes that come back after a restart of the daemon.
#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "daemon/app/compute/instance_processes.hpp"
#include "tests/unit/daemon/app/compute/test_pages.hpp"

namespace cgpu::app {
namespace {

using schedule::GateOrder;
using schedule::kMilli;
using test::TestPages;

TEST(InstanceProcessesBack, a_process_taken_up_again_starts_from_what_its_page_shows) {
    InstanceProcesses processes(0);
    auto one = std::make_shared<TestPages>(1);
    one->its_reports.gpus[0].used_ns = 900 * kMilli;
    processes.add(one);
    EXPECT_EQ(processes.read(1000 * kMilli).used, 0);
}

// Found as jobs that stood still after a restart of the daemon, for as long as they had computed before.
TEST(InstanceProcessesBack, a_first_report_of_all_that_was_ever_used_is_no_use_of_now) {
    InstanceProcesses processes(0);
    auto one = std::make_shared<TestPages>(1);
    processes.add(one);
    EXPECT_EQ(processes.read(1000 * kMilli).used, 0);
    one->its_reports.gpus[0].used_ns = 900 * kMilli;
    EXPECT_EQ(processes.read(1010 * kMilli).used, 10 * kMilli);
    EXPECT_EQ(processes.read(1030 * kMilli).used, 10 * kMilli);
    one->its_reports.gpus[0].used_ns = 905 * kMilli;
    EXPECT_EQ(processes.read(1040 * kMilli).used, 15 * kMilli);
    GateOrder open;
    open.state = GateOrder::State::open;
    open.limit = 21 * kMilli;
    processes.publish(open, 1000 * kMilli, 1500 * kMilli);
    EXPECT_EQ(one->its_orders.gates[0].limit_ns, 911 * kMilli);
}

TEST(InstanceProcessesBack, who_comes_back_settles_until_its_work_has_drained_and_others_are_back) {
    InstanceProcesses processes(0);
    auto one = std::make_shared<TestPages>(1);
    auto& report = one->its_reports.gpus[0];
    processes.add(one);
    (void)processes.read(1000 * kMilli);
    constexpr Nanos kBackUntil = 2000 * kMilli;
    EXPECT_FALSE(processes.settles(1000 * kMilli, kBackUntil))
        << "its page is empty, as that of a new process";
    report.used_ns = 900 * kMilli;
    report.in_flight_ns = 40 * kMilli;
    report.updated_ns = 1001 * kMilli;
    for (const auto ms : {1001, 1300, 4100, 60'000}) {
        (void)processes.read(ms * kMilli);
        EXPECT_TRUE(processes.settles(ms * kMilli, kBackUntil)) << ms;
    }
    EXPECT_FALSE(processes.settles(1001 * kMilli, 999 * kMilli))
        << "it is a new one, which claims to be back";
    (void)processes.read(61'100 * kMilli);
    EXPECT_FALSE(processes.settles(61'100 * kMilli, kBackUntil)) << "however long its work takes";
    report.in_flight_ns = 0;
    (void)processes.read(1100 * kMilli);
    EXPECT_TRUE(processes.settles(1100 * kMilli, kBackUntil)) << "others may come back yet";
    EXPECT_FALSE(processes.settles(4001 * kMilli, kBackUntil));
}

TEST(InstanceProcessesBack, counts_only_what_is_its_own) {
    InstanceProcesses processes(0);
    auto one = std::make_shared<TestPages>(1);
    processes.add(one);
    Nanos charged = 0;
    const auto uses = [&](int used_ms, int now_ms, bool own) {
        one->its_reports.gpus[0].used_ns = used_ms * kMilli;
        const Nanos all = processes.read(now_ms * kMilli).used;
        processes.count(own, now_ms * kMilli);
        processes.charged(all - std::exchange(charged, all));
        EXPECT_EQ(all, used_ms * kMilli) << "what divides the GPU goes by all of it";
        return processes.totals().used;
    };
    (void)processes.read(1000 * kMilli);
    EXPECT_EQ(uses(5, 1010, true), 5 * kMilli);
    EXPECT_EQ(uses(12, 1020, false), 5 * kMilli);
    EXPECT_EQ(uses(20, 1030, true), 13 * kMilli);
    one->its_reports.gpus[0].used_ns = 23 * kMilli;
    processes.remove(one->process, 1040 * kMilli);
    EXPECT_EQ(processes.read(1050 * kMilli).used, 23 * kMilli);
}

}  // namespace
}  // namespace cgpu::app
