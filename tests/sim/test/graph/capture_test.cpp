// Streams that are captured into graphs.
#include <gtest/gtest.h>

#include "tests/sim/test/support/capture_support.hpp"

namespace simgpu::test {
namespace {

TEST(Capture, WhatAStreamIsGivenRunsWhenTheGraphIsLaunchedAndNotBefore) {
    TestDevice device(1);
    Child child([](const Child::Line& line) {
        use_device(0);
        constexpr unsigned int kCount = 1000;
        const CUdeviceptr a = allocate(kCount * sizeof(float));
        const CUdeviceptr b = allocate(kCount * sizeof(float));
        void* pinned = nullptr;
        REQUIRE_OK(cuMemHostAlloc(&pinned, kCount * sizeof(float), 0));
        launch_busy(nullptr, 1);
        REQUIRE_OK(cuMemsetD32(a, 0, kCount));
        CUstream stream = new_stream();
        begin_capture(stream);
        launch_busy(stream, 10'000);
        REQUIRE_OK(cuMemsetD32Async(a, 0x40000000, kCount, stream));  // 2.0f
        REQUIRE_OK(cuMemcpyDtoDAsync(b, a, kCount * sizeof(float), stream));
        REQUIRE_OK(cuMemcpyDtoHAsync(pinned, b, kCount * sizeof(float), stream));
        static int calls = 0;
        REQUIRE_OK(cuLaunchHostFunc(
            stream, [](void*) { ++calls; }, nullptr));
        REQUIRE_EQ(status_of(stream), CU_STREAM_CAPTURE_STATUS_ACTIVE);
        CUgraph graph = end_capture(stream);
        REQUIRE_EQ(node_count(graph), 5);
        REQUIRE_OK(cuCtxSynchronize());
        REQUIRE_EQ(read_floats(a, kCount)[0], 0);
        line.say('c');
        line.wait();
        CUgraphExec exec = instantiate(graph);
        REQUIRE_OK(cuGraphDestroy(graph));
        for (int i = 0; i < 2; ++i) REQUIRE_OK(cuGraphLaunch(exec, stream));
        REQUIRE_OK(cuStreamSynchronize(stream));
        REQUIRE_EQ(static_cast<float*>(pinned)[kCount - 1], 2);
        REQUIRE_EQ(calls, 2);
    });
    const pid_t pid = child.pid();
    ASSERT_EQ(child.hear(), 'c');
    EXPECT_EQ(device.use(pid).served, 1'000);
    child.tell();
    EXPECT_EQ(child.wait(), 0);
    EXPECT_EQ(device.use(pid).served, 20'001'000);
}

TEST(Capture, EventsForkAndJoinOtherStreams) {
    TestDevice device(1);
    Child child([](const Child::Line&) {
        use_device(0);
        launch_busy(nullptr, 1);
        CUstream origin = new_stream();
        CUstream side = new_stream();
        const CUevent fork = new_event(CU_EVENT_DISABLE_TIMING);
        const CUevent join = new_event(CU_EVENT_DISABLE_TIMING);
        begin_capture(origin);
        launch_busy(origin, 100);
        REQUIRE_OK(cuEventRecord(fork, origin));
        REQUIRE_OK(cuStreamWaitEvent(side, fork, 0));
        REQUIRE_EQ(status_of(side), CU_STREAM_CAPTURE_STATUS_ACTIVE);
        launch_busy(side, 200);
        launch_busy(origin, 300);
        REQUIRE_OK(cuEventRecord(join, side));
        REQUIRE_OK(cuStreamWaitEvent(origin, join, 0));
        launch_busy(origin, 400);
        CUgraph graph = end_capture(origin);
        REQUIRE_EQ(status_of(side), CU_STREAM_CAPTURE_STATUS_NONE);
        std::size_t edges = 0;
        REQUIRE_OK(cuGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
        REQUIRE_EQ(node_count(graph), 4);
        REQUIRE_EQ(edges, 4);
        REQUIRE_EQ(cuEventQuery(join), CUDA_ERROR_CAPTURED_EVENT);
        REQUIRE_OK(cuGraphLaunch(instantiate(graph), origin));
        REQUIRE_OK(cuStreamSynchronize(origin));
        REQUIRE_OK(cuEventRecord(join, side));
        REQUIRE_OK(cuEventSynchronize(join));
    });
    const pid_t pid = child.pid();
    EXPECT_EQ(child.wait(), 0);
    EXPECT_NEAR(static_cast<double>(device.use(pid).served), 1'001'000.0, 4.0);
}

TEST(Capture, ItsStateCanBeReadAndItsDependenciesChanged) {
    TestDevice device(1);
    Child child([](const Child::Line&) {
        use_device(0);
        launch_busy(nullptr, 1);
        CUgraph graph = new_graph();
        const CUgraphNode given = add_busy(graph, {}, 1);
        CUstream stream = new_stream();
        REQUIRE_OK(
            cuStreamBeginCaptureToGraph(stream, graph, &given, nullptr, 1, CU_STREAM_CAPTURE_MODE_GLOBAL));
        CUstreamCaptureStatus status{};
        cuuint64_t id = 0;
        CUgraph shown = nullptr;
        const CUgraphNode* front = nullptr;
        const CUgraphEdgeData* data = nullptr;
        std::size_t count = 0;
        const auto look = [&] {
            REQUIRE_OK(cuStreamGetCaptureInfo(stream, &status, &id, &shown, &front, &data, &count));
        };
        look();
        REQUIRE_EQ(status == CU_STREAM_CAPTURE_STATUS_ACTIVE && shown == graph && id != 0, true);
        REQUIRE_EQ(count == 1 && front[0] == given, true);
        launch_busy(stream, 2);
        look();
        REQUIRE_EQ(count == 1 && front[0] != given, true);
        CUgraphNode nodes[] = {given};
        REQUIRE_OK(
            cuStreamUpdateCaptureDependencies(stream, nodes, nullptr, 1, CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
        look();
        REQUIRE_EQ(count, 2);
        REQUIRE_OK(
            cuStreamUpdateCaptureDependencies(stream, nodes, nullptr, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
        look();
        REQUIRE_EQ(count, 1);
        CUgraphExec exec = nullptr;
        REQUIRE_EQ(cuGraphInstantiate(&exec, graph, 0), CUDA_ERROR_INVALID_VALUE);  // not before its end
        REQUIRE_EQ(end_capture(stream) == graph, true);
        REQUIRE_EQ(node_count(graph), 2);
        REQUIRE_EQ(cuStreamUpdateCaptureDependencies(stream, nodes, nullptr, 1, 0), CUDA_ERROR_ILLEGAL_STATE);
    });
    EXPECT_EQ(child.wait(), 0);
}

TEST(Capture, TakesGraphsExternalEventsAndPooledMemoryAsNodes) {
    TestDevice device(1);
    Child child([](const Child::Line&) {
        use_device(0);
        launch_busy(nullptr, 1);
        constexpr unsigned int kCount = 1000;
        CUgraph inner = new_graph();
        add_busy(inner, {}, 1'000);
        CUgraphExec inner_exec = instantiate(inner);
        CUstream stream = new_stream();
        const CUevent event = new_event();
        begin_capture(stream);
        REQUIRE_OK(cuGraphLaunch(inner_exec, stream));
        REQUIRE_OK(cuEventRecordWithFlags(event, stream, CU_EVENT_RECORD_EXTERNAL));
        CUdeviceptr memory = 0;
        REQUIRE_OK(cuMemAllocAsync(&memory, kCount * sizeof(float), stream));
        REQUIRE_OK(cuMemsetD32Async(memory, 0, 0, stream));  // nothing to set: no node
        REQUIRE_OK(cuMemFreeAsync(memory, stream));
        CUgraph graph = end_capture(stream);
        REQUIRE_EQ(node_count(graph), 4);
        REQUIRE_EQ(cuEventRecordWithFlags(event, stream, CU_EVENT_RECORD_EXTERNAL), CUDA_ERROR_INVALID_VALUE);
        CUgraphExec exec = instantiate(graph);
        REQUIRE_OK(cuGraphLaunch(exec, stream));
        REQUIRE_OK(cuEventSynchronize(event));
        REQUIRE_OK(cuStreamSynchronize(stream));
    });
    const pid_t pid = child.pid();
    EXPECT_EQ(child.wait(), 0);
    EXPECT_EQ(device.use(pid).served, 1'001'000);
}

}  // namespace
}  // namespace simgpu::test
