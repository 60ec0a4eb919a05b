// A peer of cgpud's link that is not the module: it shows what strangers, greedy processes and hostile ones
// could do there, and how that affects an honest one. It calls no driver.
#include <linux/futex.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "tests/peer/front.hpp"
#include "tests/programs/support/options.hpp"

namespace {

using cgpu::link::test::Front;
namespace wire = cgpu::wire;
using Clock = std::chrono::steady_clock;

struct Given {
    std::string errand;
    std::string socket = "/run/cgpu/link/socket";
    unsigned processes = 1;
    unsigned connections = 1;
    double seconds = 1;
    unsigned long long bytes = 2 << 20;
};

Clock::time_point end_of(const Given& given) {
    return Clock::now() + std::chrono::microseconds(static_cast<long long>(given.seconds * 1e6));
}

/// Prints `welcomed`, or why it was refused.
int hello(const Given& given) {
    Front front;
    if (!front.connect(given.socket)) {
        std::perror("connect");
        return 1;
    }
    const auto why = front.hello(wire::Role::compute);
    if (!why || *why != wire::Why::none) {
        std::printf("refused %d\n", why ? static_cast<int>(*why) : -1);
        return 1;
    }
    const auto answer = front.ask(wire::Topic::lease, given.bytes);
    std::printf("welcomed\nleased %llu\n",
                answer ? static_cast<unsigned long long>(answer->granted_bytes) : 0ULL);
    return 0;
}

/// Makes the connections of one process. The first one computes, as the second does in a program with two
/// fronts.
std::vector<Front> connect_all(const Given& given) {
    std::vector<Front> fronts(given.connections);
    for (auto& front : fronts)
        if (!front.connect(given.socket) || front.hello(wire::Role::compute) != wire::Why::none) return {};
    return fronts;
}

int flood_alone(const Given& given) {
    auto fronts = connect_all(given);
    if (fronts.empty()) return 1;
    const auto end = end_of(given);
    auto message = wire::make_message<wire::Ask>(1);
    message.topic = wire::Topic::usage;
    // Several questions are in flight on each connection, so cgpud never has to wait for the next one.
    constexpr int kAhead = 4;
    for (int i = 0; i < kAhead; ++i)
        for (auto& front : fronts) front.send(message);
    while (Clock::now() < end)
        for (auto& front : fronts) {
            if (front.receive().empty()) return 1;
            front.send(message);
        }
    return 0;
}

/// Runs the body in several processes; each of them ends with this one.
template <class Body>
int in_processes(const Given& given, Body body) {
    std::vector<pid_t> children;
    for (unsigned i = 0; i < given.processes; ++i) {
        const pid_t child = fork();
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            _exit(body());
        }
        children.push_back(child);
    }
    std::puts("ready");
    std::fflush(stdout);
    int bad = 0;
    for (const pid_t child : children) {
        int status = 0;
        waitpid(child, &status, 0);
        bad += status != 0;
    }
    std::printf("failed %d\n", bad);
    return bad == 0 ? 0 : 1;
}

/// Stays connected and silent until it is told to end.
int stay(const Given& given) {
    const auto fronts = connect_all(given);
    if (fronts.empty()) return 1;
    for (;;) pause();
}

int ring(const Given& given) {
    Front front;
    if (!front.connect(given.socket) || front.hello(wire::Role::compute) != wire::Why::none) return 1;
    auto* word = &front.doorbell->rings;
    std::puts("ready");
    std::fflush(stdout);
    for (const auto end = end_of(given); Clock::now() < end;) {
        word->fetch_add(1);
        syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(word), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
    }
    return 0;
}

/// Forges its report: says again and again, with a ring each time, that it wants the GPU and has waited for
/// as long as a number can say; every other time, for less than no time.
int forge_alone(const Given& given) {
    Front front;
    if (!front.connect(given.socket) || front.hello(wire::Role::compute) != wire::Why::none) return 1;
    auto& report = front.reports->gpus[0];
    auto* word = &front.doorbell->rings;
    bool huge = true;
    for (const auto end = end_of(given); Clock::now() < end; usleep(1000)) {
        report.waited_ns =
            huge ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
        huge = !huge;
        report.wants = 1;
        report.updated_ns = std::chrono::nanoseconds(Clock::now().time_since_epoch()).count();
        word->fetch_add(1);
        syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(word), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
    }
    report.waited_ns = std::numeric_limits<std::int64_t>::max();
    return 0;
}

/// Measures how long an honest process waits for memory: it leases and gives back, at most 500 times a
/// second.
int time_leases(const Given& given) {
    Front front;
    if (!front.connect(given.socket) || front.hello(wire::Role::compute) != wire::Why::none) return 1;
    std::vector<double> took;
    for (const auto end = end_of(given); Clock::now() < end; usleep(2000)) {
        const auto began = Clock::now();
        const auto answer = front.ask(wire::Topic::lease, given.bytes);
        if (!answer || answer->granted_bytes < given.bytes) return 1;
        took.push_back(std::chrono::duration<double, std::micro>(Clock::now() - began).count());
        front.give(front.lease);
    }
    if (took.empty()) return 1;
    std::sort(took.begin(), took.end());
    std::printf("asks %zu\nmedian_us %.0f\np90_us %.0f\nmost_us %.0f\n", took.size(), took[took.size() / 2],
                took[took.size() * 9 / 10], took.back());
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    Given given;
    programs::Options options("peer: a peer of cgpud's link that is not the module");
    options.value("--do", given.errand, "hello, flood, forge, stay, ring, spin or time")
        .required()
        .one_of({"hello", "flood", "forge", "stay", "ring", "spin", "time"});
    options.value("--socket", given.socket);
    options.value("--processes", given.processes).positive();
    options.value("--connections", given.connections, "of each process").positive();
    options.value("--seconds", given.seconds);
    options.value("--bytes", given.bytes, "to lease");
    if (const auto status = options.parse(argc, argv)) return *status;
    if (given.errand == "hello") return hello(given);
    if (given.errand == "flood") return in_processes(given, [&] { return flood_alone(given); });
    if (given.errand == "forge") return in_processes(given, [&] { return forge_alone(given); });
    if (given.errand == "stay") return in_processes(given, [&] { return stay(given); });
    if (given.errand == "ring") return ring(given);
    if (given.errand == "time") return time_leases(given);
    return in_processes(given, [&] {  // spin: as busy as the others, without a word to cgpud
        for (const auto end = end_of(given); Clock::now() < end;) {
        }
        return 0;
    });
}
