// A program of the CUDA runtime, as anybody writes it: a kernel, a graph, every way of cudaMalloc… until it is refused.
// Prints lines `KEY VALUE`; allocates plainly until nothing more is given at its end, and holds that until SIGTERM.
#include <cuda_runtime.h>
#include <stdio.h>
#include <unistd.h>

#include <vector>

namespace {

constexpr int kElements = 1 << 20;
constexpr size_t kPiece = size_t{64} << 20;

__global__ void twice(float* values, int count) {
    const int element = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (element < count) values[element] *= 2;
}

void say(const char* key, cudaError_t result) { printf("%s %d %s\n", key, result, cudaGetErrorName(result)); }

void launch(float* values, cudaStream_t stream) {
    twice<<<(kElements + 255) / 256, 256, 0, stream>>>(values, kElements);
}

/// How many of the elements are not `wanted`.
int wrong(const float* on_device, float wanted) {
    std::vector<float> values(kElements);
    if (cudaMemcpy(values.data(), on_device, kElements * sizeof(float), cudaMemcpyDeviceToHost) != cudaSuccess)
        return kElements;
    int count = 0;
    for (const float value : values) count += value != wanted;
    return count;
}

/// A kernel, then a graph of three, on memory that holds ones.
void compute() {
    float* values = nullptr;
    say("malloc", cudaMalloc(&values, kElements * sizeof(float)));
    const std::vector<float> ones(kElements, 1.0F);
    cudaMemcpy(values, ones.data(), kElements * sizeof(float), cudaMemcpyHostToDevice);
    launch(values, nullptr);
    say("launch", cudaGetLastError());
    printf("kernel_wrong %d\n", wrong(values, 2));

    cudaStream_t stream = nullptr;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    cudaStreamCreate(&stream);
    say("capture", cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < 3; ++i) launch(values, stream);
    cudaStreamEndCapture(stream, &graph);
    say("instantiate", cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 2; ++i) say("graph_launch", cudaGraphLaunch(exec, stream));
    cudaStreamSynchronize(stream);
    printf("graph_wrong %d\n", wrong(values, 128));
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
    cudaFree(values);
}

/// One small allocation in each of these ways, let go again.
void ways() {
    void* memory = nullptr;
    size_t pitch = 0;
    say("pitch", cudaMallocPitch(&memory, &pitch, 1000, 1000));
    cudaFree(memory);
    cudaArray_t array = nullptr;
    const cudaChannelFormatDesc floats = cudaCreateChannelDesc<float>();
    say("array", cudaMallocArray(&array, &floats, 1000, 1000));
    cudaFreeArray(array);
    say("array_3d", cudaMalloc3DArray(&array, &floats, make_cudaExtent(100, 100, 100)));
    cudaFreeArray(array);
    say("async", cudaMallocAsync(&memory, kPiece, nullptr));
    cudaFreeAsync(memory, nullptr);
    cudaStreamSynchronize(nullptr);
    int offered = -1;
    cudaDeviceGetAttribute(&offered, cudaDevAttrManagedMemory, 0);
    printf("managed_offered %d\n", offered);
    say("managed", cudaMallocManaged(&memory, kPiece));
    cudaGetLastError();
}

void fill() {
    size_t pieces = 0;
    void* memory = nullptr;
    cudaError_t result = cudaSuccess;
    while ((result = cudaMalloc(&memory, kPiece)) == cudaSuccess) ++pieces;
    say("result", result);
    printf("allocated_mib %zu\n", pieces * (kPiece >> 20));
}

}  // namespace

int main() {
    setvbuf(stdout, nullptr, _IOLBF, 0);
    size_t free = 0;
    size_t total = 0;
    say("mem_info", cudaMemGetInfo(&free, &total));
    cudaDeviceProp properties{};
    cudaGetDeviceProperties(&properties, 0);
    printf("total %zu\nproperties_total %zu\n", total, properties.totalGlobalMem);
    compute();
    ways();
    fill();
    puts("ready");
    pause();
}
