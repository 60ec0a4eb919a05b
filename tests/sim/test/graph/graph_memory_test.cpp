// Memory that graphs allocate and free.
#include <gtest/gtest.h>

#include "tests/sim/test/support/graph_support.hpp"

namespace simgpu::test {
namespace {

CUgraphNode add_allocation(CUgraph graph, std::size_t bytes, CUdeviceptr& pointer) {
    CUDA_MEM_ALLOC_NODE_PARAMS params{};
    params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    params.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    params.bytesize = bytes;
    CUgraphNode node = nullptr;
    REQUIRE_OK(cuGraphAddMemAllocNode(&node, graph, nullptr, 0, &params));
    pointer = params.dptr;
    return node;
}

cuuint64_t attribute(CUgraphMem_attribute which) {
    cuuint64_t value = 0;
    REQUIRE_OK(cuDeviceGetGraphMemAttribute(0, which, &value));
    return value;
}

TEST(GraphMemory, IsChargedByTheFirstLaunchAndKeptUntilItIsTrimmed) {
    TestDevice device(1);
    Child child([](const Child::Line& line) {
        use_device(0);
        constexpr unsigned int kCount = 5 * kMiB / sizeof(float);
        const CUdeviceptr result = allocate(kCount * sizeof(float));
        CUgraph graph = new_graph();
        CUdeviceptr scratch = 0;
        const CUgraphNode allocated = add_allocation(graph, kCount * sizeof(float), scratch);
        const CUgraphNode filled = add_fill(graph, {allocated}, scratch, 4.0F, kCount);
        const CUgraphNode summed = add_sum(graph, {filled}, scratch, scratch, result, kCount);
        CUgraphNode freed = nullptr;
        REQUIRE_OK(cuGraphAddMemFreeNode(&freed, graph, &summed, 1, scratch));
        REQUIRE_EQ(cuGraphAddMemFreeNode(&freed, graph, &summed, 1, scratch), CUDA_ERROR_INVALID_VALUE);
        CUgraph clone = nullptr;
        REQUIRE_EQ(cuGraphClone(&clone, graph), CUDA_ERROR_NOT_SUPPORTED);
        CUgraphExec exec = instantiate(graph);
        CUgraphExec second = nullptr;
        REQUIRE_EQ(cuGraphInstantiate(&second, graph, 0), CUDA_ERROR_INVALID_VALUE);
        line.say('i');  // instantiated
        line.wait();
        for (int i = 0; i < 3; ++i) REQUIRE_OK(cuGraphLaunch(exec, nullptr));
        REQUIRE_EQ(read_floats(result, kCount)[kCount - 1], 8);
        REQUIRE_EQ(attribute(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT), 0);
        REQUIRE_EQ(attribute(CU_GRAPH_MEM_ATTR_USED_MEM_HIGH), 6 * kMiB);
        REQUIRE_EQ(attribute(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT), 6 * kMiB);
        REQUIRE_OK(cuGraphExecDestroy(exec));
        line.say('l');  // launched, and the executable is gone
        line.wait();
        REQUIRE_OK(cuDeviceGraphMemTrim(0));
        REQUIRE_EQ(attribute(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT), 0);
        cuuint64_t zero = 0;
        REQUIRE_OK(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH, &zero));
        REQUIRE_EQ(attribute(CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH), 0);
        line.say('t');
        line.wait();
    });
    const pid_t pid = child.pid();
    ASSERT_EQ(child.hear(), 'i');
    EXPECT_EQ(device.use(pid).allocated_bytes, 6 * kMiB);  // the result alone
    child.tell();
    ASSERT_EQ(child.hear(), 'l');
    EXPECT_EQ(device.use(pid).allocated_bytes, 12 * kMiB);
    child.tell();
    ASSERT_EQ(child.hear(), 't');
    EXPECT_EQ(device.use(pid).allocated_bytes, 6 * kMiB);
    child.tell();
    EXPECT_EQ(child.wait(), 0);
}

TEST(GraphMemory, WhatAGraphDoesntFreeIsTheProgramsToFree) {
    TestDevice device(1);
    Child child([](const Child::Line&) {
        use_device(0);
        CUgraph graph = new_graph();
        CUdeviceptr memory = 0;
        const CUgraphNode allocated = add_allocation(graph, 4 * kMiB, memory);
        add_fill(graph, {allocated}, memory, 3.0F, 10);
        CUgraphExec exec = instantiate(graph);
        REQUIRE_EQ(cuMemFree(memory), CUDA_ERROR_INVALID_VALUE);  // not before it is allocated
        REQUIRE_OK(cuGraphLaunch(exec, nullptr));
        REQUIRE_EQ(read_floats(memory, 10)[9], 3);
        REQUIRE_EQ(cuGraphLaunch(exec, nullptr), CUDA_ERROR_INVALID_VALUE);
        REQUIRE_OK(cuDeviceGraphMemTrim(0));  // in use: it stays
        REQUIRE_EQ(attribute(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT), 4 * kMiB);
        REQUIRE_OK(cuMemFreeAsync(memory, nullptr));
        REQUIRE_OK(cuGraphLaunch(exec, nullptr));
        REQUIRE_OK(cuMemFree(memory));
        REQUIRE_OK(cuGraphLaunch(exec, nullptr));
        CUgraph freeing = new_graph();
        CUgraphNode freed = nullptr;
        REQUIRE_OK(cuGraphAddMemFreeNode(&freed, freeing, nullptr, 0, memory));
        REQUIRE_OK(cuGraphLaunch(instantiate(freeing), nullptr));
        REQUIRE_OK(cuCtxSynchronize());
        REQUIRE_EQ(attribute(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT), 0);
        REQUIRE_OK(cuGraphExecDestroy(exec));
        exec = instantiate(graph, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
        for (int i = 0; i < 3; ++i) REQUIRE_OK(cuGraphLaunch(exec, nullptr));
        REQUIRE_OK(cuCtxSynchronize());
        REQUIRE_EQ(attribute(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT), 4 * kMiB);
    });
    EXPECT_EQ(child.wait(), 0);
}

TEST(GraphMemory, ALaunchOrAnUploadFailsWhereTheCardHasNoRoom) {
    TestDevice device(1);
    Child child([](const Child::Line&) {
        use_device(0);
        CUgraph graph = new_graph();
        CUdeviceptr memory = 0;
        add_allocation(graph, 600 * kMiB, memory);
        CUgraphExec exec = instantiate(graph);
        const CUdeviceptr other = allocate(500 * kMiB);
        REQUIRE_EQ(cuGraphLaunch(exec, nullptr), CUDA_ERROR_OUT_OF_MEMORY);
        REQUIRE_EQ(cuGraphUpload(exec, nullptr), CUDA_ERROR_OUT_OF_MEMORY);
        REQUIRE_OK(cuMemFree(other));
        REQUIRE_OK(cuGraphUpload(exec, nullptr));
        REQUIRE_EQ(attribute(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT), 600 * kMiB);
        REQUIRE_OK(cuGraphLaunch(exec, nullptr));
        CUcontext context = nullptr;
        REQUIRE_OK(cuCtxGetCurrent(&context));
        REQUIRE_OK(cuDevicePrimaryCtxReset(0));
        REQUIRE_OK(cuGraphExecDestroy(exec));
        REQUIRE_OK(cuGraphDestroy(graph));
    });
    const pid_t pid = child.pid();
    EXPECT_EQ(child.wait(), 0);
    EXPECT_EQ(device.use(pid).peak_bytes, 700 * kMiB);
    EXPECT_EQ(device.used_bytes(), 0U);
}

TEST(GraphMemory, CanBeUsedWithinTheCaptureThatAllocatesIt) {
    TestDevice device(1);
    Child child([](const Child::Line&) {
        use_device(0);
        const CUdeviceptr result = allocate(4096);
        CUstream stream = new_stream();
        REQUIRE_OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
        CUdeviceptr scratch = 0;
        REQUIRE_OK(cuMemAllocAsync(&scratch, 4096, stream));
        REQUIRE_OK(cuMemsetD32Async(scratch, 0x40000000, 1024, stream));
        REQUIRE_OK(cuMemcpyDtoDAsync(result, scratch, 4096, stream));
        REQUIRE_OK(cuMemFreeAsync(scratch, stream));
        CUgraph graph = nullptr;
        REQUIRE_OK(cuStreamEndCapture(stream, &graph));
        REQUIRE_OK(cuGraphLaunch(instantiate(graph), nullptr));
        REQUIRE_EQ(read_floats(result, 1024)[1023], 2);
        REQUIRE_EQ(attribute(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT), 2 * kMiB);
    });
    EXPECT_EQ(child.wait(), 0);
}

}  // namespace
}  // namespace simgpu::test
