// Times launches in blocks of a thousand and prints each block's nanoseconds per launch.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "tests/sim/include/simgpu/cuda.h"

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kBlock = 1000;

void must(CUresult result, const char* call) {
    if (result == CUDA_SUCCESS) return;
    std::fprintf(stderr, "launch_cost: %s gave %d\n", call, static_cast<int>(result));
    std::exit(1);
}

/// The driver does nothing with them.
CUfunction function(int which) {
    static char functions[16];
    return reinterpret_cast<CUfunction>(&functions[which]);
}

/// `functions` take turns. The first tenth is for what happens once: symbols, connections, estimates.
std::vector<double> time_blocks(CUcontext context, int functions, int blocks) {
    must(cuCtxSetCurrent(context), "cuCtxSetCurrent");
    std::vector<double> times;
    times.reserve(static_cast<std::size_t>(blocks));
    for (int block = -blocks / 10; block < blocks; ++block) {
        const auto began = Clock::now();
        for (int i = 0; i < kBlock; ++i) {
            must(cuLaunchKernel(function(i % functions), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
                 "cuLaunchKernel");
        }
        const std::chrono::duration<double, std::nano> time = Clock::now() - began;
        if (block >= 0) times.push_back(time.count() / kBlock);
    }
    return times;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) {
        std::fputs("usage: launch_cost FUNCTIONS THREADS BLOCKS\n", stderr);
        return 2;
    }
    must(cuInit(0), "cuInit");
    CUcontext context = nullptr;
    must(cuDevicePrimaryCtxRetain(&context, 0), "cuDevicePrimaryCtxRetain");
    std::vector<std::vector<double>> times(std::strtoul(argv[2], nullptr, 10));
    std::vector<std::thread> threads;
    threads.reserve(times.size());
    for (auto& mine : times)
        threads.emplace_back([&] { mine = time_blocks(context, std::atoi(argv[1]), std::atoi(argv[3])); });
    for (auto& thread : threads) thread.join();
    for (const auto& one : times)
        for (const double time : one) std::printf("%.2f\n", time);
    return 0;
}
