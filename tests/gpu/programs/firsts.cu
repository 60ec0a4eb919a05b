// What the first use of a kernel takes from the card that was not taken before. The kernel is the only one of its program
// (-DKERNEL=plain and so on), because a module's kernels are loaded with what the module needs.
//
// firsts [--fill | --late]: asks for the kernel's attributes and launches it. --fill: between the two all other memory that the
// program may have is allocated, in pieces of 2 MiB. --late: all of it before both, then 16 MiB of it are freed. Prints `local` (the
// bytes that each thread needs, by the runtime), `loaded` and `launched` (the bytes that the card lacks beyond the context then),
// `result` (of the launch), and `ready`; then it waits for SIGTERM.
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <unistd.h>

#ifndef BYTES
#define BYTES 64
#endif
#ifndef KERNEL
#define KERNEL plain
#endif

#define kernel_plain(out, by) out[threadIdx.x] = by
#define kernel_local(out, by)                                                     \
    volatile int own[BYTES / 4];                                                  \
    for (int i = 0; i < BYTES / 4; ++i) own[(i * by) % (BYTES / 4)] = i;          \
    out[threadIdx.x] = own[by % (BYTES / 4)]
#define kernel_prints(out, by)                   \
    if (by == 1000000) printf("%d\n", by);       \
    out[threadIdx.x] = by
#define kernel_asserts(out, by) \
    assert(by != 1000000);      \
    out[threadIdx.x] = by
#define kernel_allocates(out, by)                              \
    void* memory = malloc(static_cast<std::size_t>(by));       \
    out[threadIdx.x] = memory != nullptr;                      \
    free(memory)
#define kernel_recurses(out, by) out[threadIdx.x] = deep(by)
#define NAME2(name) kernel_##name
#define NAME(name) NAME2(name)

__device__ __noinline__ int deep(int left) { return left <= 0 ? 1 : left + deep(left - 1 - (left & 1)); }

namespace {

__global__ void kernel(int* out, int by) { NAME(KERNEL)(out, by); }

std::size_t begun = 0;

std::size_t lacks() {
    std::size_t free = 0;
    std::size_t total = 0;
    cudaMemGetInfo(&free, &total);
    return total - free;
}

void say(const char* key, std::size_t value) {
    std::printf("%s %zu\n", key, value);
    std::fflush(stdout);
}

void fill(std::size_t spared) {
    std::vector<void*> pieces;
    void* piece = nullptr;
    while (cudaMalloc(&piece, 2 << 20) == cudaSuccess) pieces.push_back(piece);
    cudaGetLastError();
    for (; spared > 0 && !pieces.empty(); --spared, pieces.pop_back()) cudaFree(pieces.back());
}

}  // namespace

int main(int argc, char** argv) {
    const std::string how = argc > 1 ? argv[1] : "";
    int* out = nullptr;
    if (cudaMalloc(&out, 4096) != cudaSuccess) return 1;
    begun = lacks();
    if (how == "--late") fill(8);
    cudaFuncAttributes attributes{};
    const cudaError_t loaded = cudaFuncGetAttributes(&attributes, kernel);
    say("local", attributes.localSizeBytes);
    say("loaded", lacks() - begun);
    if (how == "--fill") fill(0);
    cudaError_t result = loaded;
    if (result == cudaSuccess) {
        kernel<<<1, 32>>>(out, 24);
        result = cudaGetLastError();
    }
    if (result == cudaSuccess) result = cudaDeviceSynchronize();
    std::printf("result %d %s\n", static_cast<int>(result), cudaGetErrorName(result));
    say("launched", lacks() - begun);
    std::puts("ready");
    std::fflush(stdout);
    while (true) pause();
}
