// Times allocations with their frees, one by one, and prints the nanoseconds: `pair NS` for an allocation and
// its free, `ask NS` for an allocation that is larger than any lease that the process can have.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/sim/include/simgpu/cuda.h"

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMiB = 1U << 20;

void must(CUresult result, const char* call) {
    if (result == CUDA_SUCCESS) return;
    std::fprintf(stderr, "alloc_cost: %s gave %d\n", call, static_cast<int>(result));
    std::exit(1);
}

long long nanoseconds_of(Clock::duration duration) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count();
}

void print(const char* what, const std::vector<long long>& times) {
    for (const long long time : times) std::printf("%s %lld\n", what, time);
}

/// The first pairs are not counted: they include one-time work such as symbol look-ups and a first lease.
void time_pairs(std::size_t bytes, std::size_t count) {
    const std::size_t unmeasured = count / 10;
    std::vector<long long> times;
    times.reserve(count);
    for (std::size_t i = 0; i < count + unmeasured; ++i) {
        CUdeviceptr pointer = 0;
        const auto began = Clock::now();
        const CUresult taken = cuMemAlloc(&pointer, bytes);
        const CUresult freed = cuMemFree(pointer);
        const auto ended = Clock::now();
        must(taken, "cuMemAlloc");
        must(freed, "cuMemFree");
        if (i >= unmeasured) times.push_back(nanoseconds_of(ended - began));
    }
    print("pair", times);
}

/// Each allocation is larger than what a process is leased beyond its needs, and nothing is freed in between.
void time_asks(std::size_t rounds) {
    constexpr std::size_t kBytes = 64 * kMiB;
    std::vector<long long> times;
    for (std::size_t round = 0; round < rounds; ++round) {
        std::vector<CUdeviceptr> pointers(32);
        for (CUdeviceptr& pointer : pointers) {
            const auto began = Clock::now();
            const CUresult taken = cuMemAlloc(&pointer, kBytes);
            const auto ended = Clock::now();
            must(taken, "cuMemAlloc");
            times.push_back(nanoseconds_of(ended - began));
        }
        for (const CUdeviceptr pointer : pointers) must(cuMemFree(pointer), "cuMemFree");
        // Wait until the lease has been returned: a process keeps it for a tenth of a second.
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
    }
    print("ask", times);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) {
        std::fputs("usage: alloc_cost BYTES PAIRS ROUNDS\n", stderr);
        return 2;
    }
    must(cuInit(0), "cuInit");
    CUcontext context = nullptr;
    must(cuDevicePrimaryCtxRetain(&context, 0), "cuDevicePrimaryCtxRetain");
    must(cuCtxSetCurrent(context), "cuCtxSetCurrent");
    time_pairs(std::strtoull(argv[1], nullptr, 10), std::strtoull(argv[2], nullptr, 10));
    time_asks(std::strtoull(argv[3], nullptr, 10));
    return 0;
}
