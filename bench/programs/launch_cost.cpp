// Times launches in blocks of a thousand and prints each block's nanoseconds per launch.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "tests/sim/include/simgpu/cuda.h"

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kBlock = 1000;
constexpr int kMost = 256;

struct Plan {
    int functions;
    int threads;
    bool own_streams;
    bool waits;  ///< after each launch
    int blocks;
};

void must(CUresult result, const char* call) {
    if (result == CUDA_SUCCESS) return;
    std::fprintf(stderr, "launch_cost: %s gave %d\n", call, static_cast<int>(result));
    std::exit(1);
}

// The driver does nothing with functions and streams, so any address can be used. They are as far apart as
// those of a driver that allocates them.
CUfunction function(int which) {
    static char functions[kMost][48];
    return reinterpret_cast<CUfunction>(&functions[which]);
}

CUstream stream(int which) {
    static char streams[kMost][48];
    return reinterpret_cast<CUstream>(&streams[which]);
}

/// The launches of a block: up to two functions take turns, more come in random order.
std::vector<CUfunction> order(const Plan& plan, int thread) {
    std::minstd_rand random(static_cast<unsigned>(thread) + 1);
    std::vector<CUfunction> functions(kBlock);
    for (std::size_t i = 0; i < functions.size(); ++i) {
        const auto turn = plan.functions <= 2 ? i : random();
        functions[i] = function(static_cast<int>(turn % static_cast<unsigned>(plan.functions)));
    }
    return functions;
}

/// The first tenth is not counted: it includes one-time work such as symbols, connections, estimates.
std::vector<double> time_blocks(CUcontext context, const Plan& plan, int thread) {
    must(cuCtxSetCurrent(context), "cuCtxSetCurrent");
    const auto functions = order(plan, thread);
    CUstream on = stream(plan.own_streams ? thread : 0);
    std::vector<double> times;
    times.reserve(static_cast<std::size_t>(plan.blocks));
    for (int block = -plan.blocks / 10; block < plan.blocks; ++block) {
        const auto began = Clock::now();
        for (CUfunction each : functions) {
            must(cuLaunchKernel(each, 1, 1, 1, 1, 1, 1, 0, on, nullptr, nullptr), "cuLaunchKernel");
            if (plan.waits) must(cuStreamSynchronize(on), "cuStreamSynchronize");
        }
        const std::chrono::duration<double, std::nano> time = Clock::now() - began;
        if (block >= 0) times.push_back(time.count() / kBlock);
    }
    return times;
}

}  // namespace

int main(int argc, char** argv) {
    const Plan plan{argc == 5 ? std::atoi(argv[1]) : 0, argc == 5 ? std::atoi(argv[2]) : 0,
                    argc == 5 && std::strcmp(argv[3], "own") == 0,
                    argc == 5 && std::strcmp(argv[3], "waited") == 0, argc == 5 ? std::atoi(argv[4]) : 0};
    if (plan.functions < 1 || plan.functions > kMost || plan.threads < 1 || plan.threads > kMost ||
        plan.blocks < 1) {
        std::fputs(
            "usage: launch_cost FUNCTIONS THREADS own|one|waited BLOCKS\n"
            "own: each thread on a stream of its own; one: all on one stream;\n"
            "waited: all on one stream, and each launch is waited for\n",
            stderr);
        return 2;
    }
    must(cuInit(0), "cuInit");
    CUcontext context = nullptr;
    must(cuDevicePrimaryCtxRetain(&context, 0), "cuDevicePrimaryCtxRetain");
    std::vector<std::vector<double>> times(static_cast<std::size_t>(plan.threads));
    std::vector<std::thread> threads;
    threads.reserve(times.size());
    for (int thread = 0; thread < plan.threads; ++thread)
        threads.emplace_back(
            [&, thread] { times[static_cast<std::size_t>(thread)] = time_blocks(context, plan, thread); });
    for (auto& thread : threads) thread.join();
    for (const auto& one : times)
        for (const double time : one) std::printf("%.2f\n", time);
    return 0;
}
