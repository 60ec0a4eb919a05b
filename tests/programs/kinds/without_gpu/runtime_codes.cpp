// What NVIDIA's CUDA runtime makes of a driver without a GPU: the codes of some of its calls.
#include <cuda_runtime_api.h>

#include <cstdio>

int main() {
    int count = -1;
    int version = -1;
    int runtime = -1;
    void* memory = nullptr;
    const int counted = cudaGetDeviceCount(&count);
    const int known = cudaDriverGetVersion(&version);
    const int own = cudaRuntimeGetVersion(&runtime);
    const int allocated = cudaMalloc(&memory, 1 << 20);
    const int freed = cudaFree(nullptr);
    const int last = cudaGetLastError();
    std::printf("cudaGetDeviceCount %d %d\ncudaDriverGetVersion %d %d\ncudaRuntimeGetVersion %d %d\n",
                counted, count, known, version, own, runtime);
    std::printf("cudaMalloc %d\ncudaFree %d\ncudaGetLastError %d\n", allocated, freed, last);
}
