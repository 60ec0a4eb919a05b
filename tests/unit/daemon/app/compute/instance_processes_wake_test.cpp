// Which threads a changed gate wakes: futexes of real threads.
#include <gtest/gtest.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "daemon/app/compute/doorbell_wait.hpp"
#include "daemon/app/compute/instance_processes.hpp"
#include "tests/unit/daemon/app/compute/test_pages.hpp"

namespace cgpu::app {
namespace {

using schedule::GateOrder;
using schedule::kMilli;
using test::TestPages;

/// A process that waits at a gate until it is woken; 20 s at most.
class AtTheGate {
  public:
    explicit AtTheGate(wire::Word& seq) : seq_(seq), thread_([this] { wait(); }) {
        const auto deadline = monotonic_now() + 20'000 * kMilli;
        while (state() != 'S' && monotonic_now() < deadline) std::this_thread::yield();
    }
    [[nodiscard]] bool was_woken() {
        thread_.join();
        return woken_;
    }

  private:
    void wait() {
        tid_ = static_cast<int>(syscall(SYS_gettid));
        const timespec limit{20, 0};
        woken_ = syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&seq_), FUTEX_WAIT, seq_.load(), &limit,
                         nullptr, 0) == 0;
    }
    [[nodiscard]] char state() const {
        if (tid_ == 0) return '?';
        std::ifstream file("/proc/self/task/" + std::to_string(tid_) + "/stat");
        std::string line;
        std::getline(file, line);
        const auto name_ends = line.rfind(')');
        return name_ends + 2 < line.size() ? line[name_ends + 2] : '?';
    }

    wire::Word& seq_;
    std::atomic<int> tid_{0};
    bool woken_ = false;
    std::thread thread_;
};

TEST(Wake, ByALimitThatItHasRoomTo) {
    InstanceProcesses processes(0);
    const auto one = std::make_shared<TestPages>(1);
    auto& report = one->its_reports.gpus[0];
    processes.add(one);
    report.used_ns = 7 * kMilli;
    report.updated_ns = 990 * kMilli;
    report.wants = 1;
    (void)processes.read(1000 * kMilli);
    processes.publish({}, 1000 * kMilli, 2000 * kMilli);
    auto& seq = one->its_orders.gates[0].seq;
    GateOrder open;
    open.state = GateOrder::State::open;
    const auto base = processes.read(1006 * kMilli).used;
    report.in_flight_ns = report.oldest_ns = 2 * kMilli;
    report.updated_ns = 1006 * kMilli;
    (void)processes.read(1006 * kMilli);
    open.limit = base + 2 * kMilli;
    processes.publish(open, 1006 * kMilli, 2000 * kMilli);
    AtTheGate process(seq);
    report.in_flight_ns = 0;
    report.used_ns = 8 * kMilli;
    open.limit = processes.read(1008 * kMilli).used + 1;
    processes.publish(open, 1008 * kMilli, 2000 * kMilli);
    EXPECT_TRUE(process.was_woken()) << "the limit is lower, but so is what it has reached";
}

/// An instance of a hundred processes, each with a launch held at a closed gate.
struct Crowd : testing::Test {
    Crowd() {
        for (int i = 0; i < 100; ++i) {
            all.push_back(std::make_shared<TestPages>(i + 1));
            all.back()->its_reports.gpus[0].wants = 1;
            all.back()->its_reports.gpus[0].updated_ns = 990 * kMilli;
            processes.add(all.back());
        }
        publish(GateOrder::State::closed);
    }
    void publish(GateOrder::State state) {
        now += kMilli;
        (void)processes.read(now);
        GateOrder gate;
        gate.state = state;
        gate.limit = schedule::kForever;
        processes.publish(gate, now, now + 1000 * kMilli);
    }
    wire::Word& seq(std::size_t i) { return all[i]->its_orders.gates[0].seq; }
    std::size_t count(wire::GateState state) const {
        return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [&](const auto& each) {
            return each->its_orders.gates[0].state == static_cast<std::uint32_t>(state);
        }));
    }

    Nanos now = 1000 * kMilli;
    InstanceProcesses processes{0};
    std::vector<std::shared_ptr<TestPages>> all;
};

TEST_F(Crowd, IsWokenInPartsAndNobodyIsForgotten) {
    AtTheGate last(seq(99));
    EXPECT_FALSE(processes.wakes_are_left());
    publish(GateOrder::State::open);
    EXPECT_EQ(count(wire::GateState::open), all.size()) << "who looks sees it at once";
    EXPECT_TRUE(processes.wakes_are_left());
    publish(GateOrder::State::open);
    EXPECT_FALSE(processes.wakes_are_left());
    EXPECT_TRUE(last.was_woken());
}

TEST_F(Crowd, ClosesAtOnceAndThoseLeftOutComeFirstThen) {
    AtTheGate last(seq(99));
    publish(GateOrder::State::open);
    publish(GateOrder::State::closed);
    EXPECT_EQ(count(wire::GateState::closed), all.size());
    EXPECT_FALSE(processes.wakes_are_left());
    publish(GateOrder::State::open);
    EXPECT_TRUE(last.was_woken());
}

TEST_F(Crowd, WhoHasNotBeenWokenYetIsNotUnresponsive) {
    publish(GateOrder::State::open);
    now += 60 * kMilli;
    for (std::size_t i = 0; i < 64; ++i) all[i]->its_reports.gpus[0].updated_ns = now;
    (void)processes.read(now);
    EXPECT_FALSE(processes.has_unresponsive_process());
}

TEST_F(Crowd, OfThreadsIsWokenInPartsToo) {
    std::vector<std::unique_ptr<AtTheGate>> threads;
    threads.reserve(InstanceProcesses::kMostWakes + 6);
    for (int i = 0; i < InstanceProcesses::kMostWakes + 6; ++i)
        threads.push_back(std::make_unique<AtTheGate>(seq(0)));
    publish(GateOrder::State::open);
    EXPECT_TRUE(processes.wakes_are_left());
    for (int i = 0; i < 10 && processes.wakes_are_left(); ++i) publish(GateOrder::State::open);
    EXPECT_FALSE(processes.wakes_are_left());
    for (const auto& each : threads) EXPECT_TRUE(each->was_woken());
}

TEST_F(Crowd, ThreadsThatWaitAgainAtOnceDontKeepTheSlicerAwake) {
    std::atomic<bool> stop{false};
    std::atomic<int> waiting{0};
    std::vector<std::thread> threads;
    threads.reserve(std::size_t{2} * InstanceProcesses::kMostWakes);
    for (int i = 0; i < 2 * InstanceProcesses::kMostWakes; ++i) {
        threads.emplace_back([&] {
            ++waiting;
            const timespec limit{0, 10'000'000};
            while (!stop)
                syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&seq(0)), FUTEX_WAIT, seq(0).load(),
                        &limit, nullptr, 0);
        });
    }
    while (waiting < 2 * InstanceProcesses::kMostWakes) std::this_thread::yield();
    int rounds = 0;
    do publish(GateOrder::State::open);
    while (++rounds < 1000 && processes.wakes_are_left());
    EXPECT_LE(rounds, InstanceProcesses::kMostWakesOfAProcess / InstanceProcesses::kMostWakes + 3);
    stop = true;
    for (auto& each : threads) each.join();
}

}  // namespace
}  // namespace cgpu::app
