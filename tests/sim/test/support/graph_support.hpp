#pragma once

#include <vector>

#include "tests/sim/test/support/support.hpp"

namespace simgpu::test {

/// A node of one thread; the parameters are read before the call returns.
inline CUgraphNode add_kernel(CUgraph graph, const std::vector<CUgraphNode>& after, CUfunction function,
                              void** parameters) {
    CUDA_KERNEL_NODE_PARAMS params{};
    params.func = function;
    params.gridDimX = params.gridDimY = params.gridDimZ = 1;
    params.blockDimX = params.blockDimY = params.blockDimZ = 1;
    params.kernelParams = parameters;
    CUgraphNode node = nullptr;
    REQUIRE_OK(cuGraphAddKernelNode(&node, graph, after.data(), after.size(), &params));
    return node;
}

/// A kernel node of `microseconds`.
inline CUgraphNode add_busy(CUgraph graph, const std::vector<CUgraphNode>& after,
                            unsigned long long microseconds) {
    static CUfunction busy = kernel("busy");
    void* parameters[] = {&microseconds};
    return add_kernel(graph, after, busy, parameters);
}

/// A node that sets `count` floats.
inline CUgraphNode add_fill(CUgraph graph, const std::vector<CUgraphNode>& after, CUdeviceptr to, float value,
                            unsigned int count) {
    static CUfunction fill = kernel("fill");
    void* parameters[] = {&to, &value, &count};
    return add_kernel(graph, after, fill, parameters);
}

/// c = a + b, of `count` floats.
inline CUgraphNode add_sum(CUgraph graph, const std::vector<CUgraphNode>& after, CUdeviceptr a, CUdeviceptr b,
                           CUdeviceptr c, unsigned int count) {
    static CUfunction sum = kernel("vector_add");
    void* parameters[] = {&a, &b, &c, &count};
    return add_kernel(graph, after, sum, parameters);
}

inline CUgraph new_graph() {
    CUgraph graph = nullptr;
    REQUIRE_OK(cuGraphCreate(&graph, 0));
    return graph;
}

inline CUgraphExec instantiate(CUgraph graph, unsigned long long flags = 0) {
    CUgraphExec exec = nullptr;
    REQUIRE_OK(cuGraphInstantiate(&exec, graph, flags));
    return exec;
}

inline std::vector<float> read_floats(CUdeviceptr from, std::size_t count) {
    std::vector<float> values(count);
    REQUIRE_OK(cuMemcpyDtoH(values.data(), from, count * sizeof(float)));
    return values;
}

inline CUstream new_stream(unsigned int flags = CU_STREAM_NON_BLOCKING) {
    CUstream stream = nullptr;
    REQUIRE_OK(cuStreamCreate(&stream, flags));
    return stream;
}

inline CUevent new_event(unsigned int flags = CU_EVENT_DEFAULT) {
    CUevent event = nullptr;
    REQUIRE_OK(cuEventCreate(&event, flags));
    return event;
}

/// Holds streams until it is opened, so that all of a test's work is queued when the first of it begins.
class Gate {
  public:
    Gate() {
        void* memory = nullptr;
        REQUIRE_OK(cuMemHostAlloc(&memory, sizeof *word_, 0));
        word_ = static_cast<volatile unsigned int*>(memory);
    }
    void hold(CUstream stream) {
        const auto address = reinterpret_cast<CUdeviceptr>(const_cast<unsigned int*>(word_));
        REQUIRE_OK(cuStreamWaitValue32(stream, address, 1, CU_STREAM_WAIT_VALUE_EQ));
    }
    void open() { *word_ = 1; }

  private:
    volatile unsigned int* word_ = nullptr;
};

/// Microseconds of GPU time between two recorded events.
inline double microseconds_between(CUevent start, CUevent end) {
    float milliseconds = 0;
    REQUIRE_OK(cuEventElapsedTime(&milliseconds, start, end));
    return static_cast<double>(milliseconds) * 1000;
}

}  // namespace simgpu::test
