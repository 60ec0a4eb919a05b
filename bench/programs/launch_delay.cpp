// How long launches take while engines are exchanged, and while they aren't: a front on a small driver, with
// a small daemon (those of its unit tests), and two threads that launch in bursts. Prints `RUN NS` for each
// launch, where RUN is `calm` or `upgrades`, and `exchanges NUMBER` for each second run. usage: launch_delay
// PAIRS SECONDS
#include <dlfcn.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <vector>

#include "tests/unit/module/front/support/front_daemon.hpp"

namespace {

constexpr int kThreads = 2;
constexpr int kBurst = 16;
constexpr long kPauseNs = 100'000;
constexpr std::int64_t kSecond = 1'000'000'000;

std::int64_t now_ns() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * kSecond + now.tv_nsec;
}

template <class Signature>
Signature* function(void* library, const char* name) {
    auto* found = reinterpret_cast<Signature*>(dlsym(library, name));
    if (found == nullptr) {
        std::fprintf(stderr, "launch_delay: no %s\n", name);
        std::exit(1);
    }
    return found;
}

using Launch = int(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
                   void**);

/// One thread's launches until `until`, each with its duration.
std::vector<std::int64_t> launches_until(void* front, void* context, std::int64_t until) {
    static int kernel;
    int stream = 0;
    auto* launch = function<Launch>(front, "cuLaunchKernel");
    function<int(void*)>(front, "cuCtxSetCurrent")(context);
    std::vector<std::int64_t> times;
    times.reserve(1 << 20);
    while (now_ns() < until) {
        for (int i = 0; i < kBurst; ++i) {
            const auto began = now_ns();
            if (launch(&kernel, 1, 1, 1, 1, 1, 1, 0, &stream, nullptr, nullptr) != 0) std::exit(1);
            times.push_back(now_ns() - began);
        }
        const timespec pause{0, kPauseNs};
        nanosleep(&pause, nullptr);
    }
    return times;
}

void run(void* front, void* context, DaemonControl& daemon, std::int64_t ns, bool upgrades) {
    const auto until = now_ns() + ns;
    std::vector<std::int64_t> times[kThreads];
    std::vector<std::thread> threads;
    for (auto& mine : times) threads.emplace_back([&] { mine = launches_until(front, context, until); });
    std::uint64_t exchanges = 0;
    static std::uint64_t request = 0;
    while (now_ns() < until) {
        if (upgrades) {
            const bool there = request % 2 == 0;
            cgpu::wire::put_text(daemon.switch_engine, there ? "twin.so" : "present.so");
            daemon.switch_version = there ? CGPU_NEXT_VERSION : CGPU_PRESENT_VERSION;
            daemon.switch_deadline_ms = 10'000;
            daemon.switch_request = ++request;
            while (daemon.switched_request != request) usleep(200);
            if (daemon.switched_result != static_cast<std::uint32_t>(cgpu::wire::SwitchResult::done))
                std::exit(1);
            ++exchanges;
        }
        usleep(2000);
    }
    for (auto& each : threads) each.join();
    if (upgrades) std::printf("exchanges %llu\n", static_cast<unsigned long long>(exchanges));
    for (const auto& mine : times)
        for (const auto time : mine)
            std::printf("%s %lld\n", upgrades ? "upgrades" : "calm", static_cast<long long>(time));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fputs("usage: launch_delay PAIRS SECONDS\n", stderr);
        return 2;
    }
    char folder[] = "/tmp/cgpu-bench-XXXXXX";
    if (mkdtemp(folder) == nullptr || chdir(folder) != 0) return 1;
    std::array<std::uint8_t, 16> uuid;
    uuid.fill(0x11);  // as the small driver says
    FakeDaemon daemon(uuid);
    daemon.control().gate = 1;
    void* front = dlopen(CGPU_TEST_FRONT, RTLD_NOW | RTLD_LOCAL);
    void* context = nullptr;
    if (front == nullptr || function<int(unsigned)>(front, "cuInit")(0) != 0 ||
        function<int(void**, unsigned, int)>(front, "cuCtxCreate_v2")(&context, 0, 0) != 0)
        return 1;
    const auto ns = std::atoi(argv[2]) * kSecond;
    for (int pair = 0; pair < std::atoi(argv[1]); ++pair) {
        run(front, context, daemon.control(), ns, pair % 2 != 0);
        run(front, context, daemon.control(), ns, pair % 2 == 0);
    }
    std::filesystem::remove_all(folder);
    return 0;
}
