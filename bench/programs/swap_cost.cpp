// What exchangeable engines cost: prints lines `WHAT NUMBER`, all in nanoseconds.
//     call WAY THREADS NS    the middle of what one call into the engine takes, of many short runs
//                            (WAY: direct, section (with membarrier), locked (without))
//     held HOLDINGS NS       how long calls were kept out by one exchange, a line each
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>
#include <vector>

#include "module/front/swap/engine.hpp"
#include "module/front/swap/engine_file.hpp"
#include "tests/unit/module/front/swap/refuse_membarrier.hpp"

namespace {

using namespace cgpu;

constexpr int kRuns = 101;
constexpr int kCallsPerRun = 20'000;
constexpr int kExchanges = 100;

/// Nanoseconds per call: the median of the runs of all threads, which run at the same time. Each thread uses
/// a GPU of its own, so that they don't wait for each other's locks.
template <class Call>  // void(gpu)
double time_calls(int threads, Call call) {
    constexpr auto kRunsEach = static_cast<std::size_t>(kRuns);
    std::vector<double> times(static_cast<std::size_t>(threads) * kRunsEach);
    std::atomic<int> ready{0};
    std::vector<std::thread> all;
    all.reserve(static_cast<std::size_t>(threads));
    for (int thread = 0; thread < threads; ++thread) {
        all.emplace_back([&, thread] {
            const auto gpu = static_cast<std::uint32_t>(8 * thread);
            ++ready;
            while (ready < threads) continue;
            for (int run = 0; run < kRuns; ++run) {
                const auto began = front::now_ns();
                for (int i = 0; i < kCallsPerRun; ++i) call(gpu);
                times[static_cast<std::size_t>(thread) * kRunsEach + static_cast<std::size_t>(run)] =
                    static_cast<double>(front::now_ns() - began) / kCallsPerRun;
            }
        });
    }
    for (auto& each : all) each.join();
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

void print_calls(const front::EngineHandle& engine, const char* way) {
    front::Running direct;
    char why[sizeof wire::Switched::detail];
    if (front::load_engine("present.so", 0, direct, why) != wire::SwitchResult::done) std::exit(1);
    for (const int threads : {1, 2}) {
        if (std::string_view(way) == "section") {
            std::printf("call direct %d %.2f\n", threads, time_calls(threads, [&](std::uint32_t gpu) {
                            direct.table->poll_at(direct.engine, gpu, 1);
                        }));
        }
        std::printf("call %s %d %.2f\n", way, threads,
                    time_calls(threads, [&](std::uint32_t gpu) { engine.poll_at(gpu, 1); }));
    }
}

void print_holds(front::EngineHandle& engine, std::uint64_t holdings) {
    engine.lease(0, holdings * 2 * wire::kGranule);
    for (std::uint64_t i = 0; i < holdings; ++i)
        engine.commit(0, module::Holding::address, 0x7000'0000'0000 + i * 700'000, 600'000, 0);
    for (int i = 0; i < kExchanges; ++i) {
        auto order = wire::make_message<wire::Switch>(1);
        order.version = i % 2 == 0 ? CGPU_NEXT_VERSION : CGPU_PRESENT_VERSION;
        order.deadline_ms = 10'000;
        wire::put_text(order.engine, i % 2 == 0 ? "twin.so" : "present.so");
        const wire::Switched answer = engine.exchange(order);
        if (answer.result != wire::SwitchResult::done) {
            std::fprintf(stderr, "swap_cost: no exchange: %s\n", answer.detail);
            std::exit(1);
        }
        std::printf("held %llu %llu\n", static_cast<unsigned long long>(holdings),
                    static_cast<unsigned long long>(answer.held_ns));
    }
    for (std::uint64_t i = 0; i < holdings; ++i)
        engine.release(module::Holding::address, 0x7000'0000'0000 + i * 700'000);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2 || (std::strcmp(argv[1], "section") != 0 && std::strcmp(argv[1], "locked") != 0)) {
        std::fputs("usage: swap_cost section|locked\n", stderr);
        return 2;
    }
    if (std::strcmp(argv[1], "locked") == 0 && !refuse_membarrier()) return 1;
    static front::EngineHandle engine;
    if (!engine.load("present.so")) return 1;
    print_calls(engine, argv[1]);
    if (std::strcmp(argv[1], "locked") == 0) return 0;
    for (const std::uint64_t holdings : {0u, 1000u, 100'000u}) print_holds(engine, holdings);
    return 0;
}
