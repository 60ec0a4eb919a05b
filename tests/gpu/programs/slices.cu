// When the GPU was taken from this process: a kernel looks at the GPU's clock for a while and notes every gap.
// slices MILLISECONDS; prints `gap START LENGTH` in nanoseconds of the GPU's clock, and `looked FROM TO`.
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#include <algorithm>
#include <vector>

namespace {

constexpr unsigned int kMost = 20000;
constexpr unsigned long long kGap = 20'000; // ns; the clock itself may tick as coarsely as 1 us

struct Gap {
    unsigned long long start;
    unsigned long long length;
};

__device__ unsigned long long now() {
    unsigned long long value;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(value));
    return value;
}

/// bounds: when it began and ended.
__global__ void look(unsigned long long duration, Gap* gaps, unsigned int* count, unsigned long long* bounds) {
    const unsigned long long begin = now();
    unsigned long long last = begin;
    unsigned int found = 0;
    while (last - begin < duration) {
        const unsigned long long time = now();
        if (time - last > kGap && found < kMost) gaps[found++] = {last, time - last};
        last = time;
    }
    *count = found;
    bounds[0] = begin;
    bounds[1] = last;
}

void must(cudaError_t result) {
    if (result == cudaSuccess) return;
    printf("error %d %s\n", result, cudaGetErrorName(result));
    exit(1);
}

}  // namespace

int main(int argc, char** argv) {
    const unsigned long long milliseconds = argc > 1 ? strtoull(argv[1], nullptr, 10) : 500;
    Gap* gaps = nullptr;
    unsigned int* count = nullptr;
    unsigned long long* bounds = nullptr;
    must(cudaMalloc(&gaps, kMost * sizeof(Gap)));
    must(cudaMalloc(&count, sizeof *count));
    must(cudaMalloc(&bounds, 2 * sizeof *bounds));
    look<<<1, 1>>>(1000, gaps, count, bounds); // what is loaded lazily is loaded now
    must(cudaDeviceSynchronize());
    puts("ready");
    fflush(stdout);
    look<<<1, 1>>>(milliseconds * 1'000'000, gaps, count, bounds);
    must(cudaDeviceSynchronize());
    unsigned int found = 0;
    unsigned long long ends[2] = {0, 0};
    must(cudaMemcpy(&found, count, sizeof found, cudaMemcpyDeviceToHost));
    must(cudaMemcpy(ends, bounds, sizeof ends, cudaMemcpyDeviceToHost));
    std::vector<Gap> all(std::min(found, kMost));
    must(cudaMemcpy(all.data(), gaps, all.size() * sizeof(Gap), cudaMemcpyDeviceToHost));
    for (const Gap& gap : all) printf("gap %llu %llu\n", gap.start, gap.length);
    printf("looked %llu %llu\n", ends[0], ends[1]);
}
