// Streams that are captured into graphs.
#include <gtest/gtest.h>

#include <thread>

#include "tests/sim/test/graph_support.hpp"

namespace simgpu::test {
namespace {

void begin(CUstream stream, CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL) {
    REQUIRE_OK(cuStreamBeginCapture(stream, mode));
}

CUgraph end(CUstream stream) {
    CUgraph graph = nullptr;
    REQUIRE_OK(cuStreamEndCapture(stream, &graph));
    return graph;
}

CUstreamCaptureStatus status_of(CUstream stream) {
    CUstreamCaptureStatus status{};
    REQUIRE_OK(cuStreamIsCapturing(stream, &status));
    return status;
}

/// Ends a capture that is lost.
void end_lost(CUstream stream) {
    REQUIRE_EQ(status_of(stream), CU_STREAM_CAPTURE_STATUS_INVALIDATED);
    CUgraph graph = reinterpret_cast<CUgraph>(1);
    REQUIRE_EQ(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    REQUIRE_EQ(graph == nullptr, true);
    REQUIRE_EQ(status_of(stream), CU_STREAM_CAPTURE_STATUS_NONE);
}

std::size_t node_count(CUgraph graph) {
    std::size_t count = 0;
    REQUIRE_OK(cuGraphGetNodes(graph, nullptr, &count));
    return count;
}

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
        begin(stream);
        launch_busy(stream, 10'000);
        REQUIRE_OK(cuMemsetD32Async(a, 0x40000000, kCount, stream));  // 2.0f
        REQUIRE_OK(cuMemcpyDtoDAsync(b, a, kCount * sizeof(float), stream));
        REQUIRE_OK(cuMemcpyDtoHAsync(pinned, b, kCount * sizeof(float), stream));
        static int calls = 0;
        REQUIRE_OK(cuLaunchHostFunc(
            stream, [](void*) { ++calls; }, nullptr));
        REQUIRE_EQ(status_of(stream), CU_STREAM_CAPTURE_STATUS_ACTIVE);
        CUgraph graph = end(stream);
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
        begin(origin);
        launch_busy(origin, 100);
        REQUIRE_OK(cuEventRecord(fork, origin));
        REQUIRE_OK(cuStreamWaitEvent(side, fork, 0));
        REQUIRE_EQ(status_of(side), CU_STREAM_CAPTURE_STATUS_ACTIVE);
        launch_busy(side, 200);
        launch_busy(origin, 300);
        REQUIRE_OK(cuEventRecord(join, side));
        REQUIRE_OK(cuStreamWaitEvent(origin, join, 0));
        launch_busy(origin, 400);
        CUgraph graph = end(origin);
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

TEST(Capture, WhatIsNotJoinedIsAnError) {
    TestDevice device(1);
    Child child([](const Child::Line&) {
        use_device(0);
        launch_busy(nullptr, 1);
        CUstream origin = new_stream();
        CUstream side = new_stream();
        const CUevent fork = new_event();
        begin(origin);
        REQUIRE_OK(cuEventRecord(fork, origin));
        REQUIRE_OK(cuStreamWaitEvent(side, fork, 0));
        launch_busy(side, 200);
        CUgraph graph = nullptr;
        REQUIRE_EQ(cuStreamEndCapture(side, &graph), CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
        REQUIRE_EQ(cuStreamEndCapture(origin, &graph), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
        REQUIRE_EQ(graph == nullptr, true);
        REQUIRE_EQ(status_of(side), CU_STREAM_CAPTURE_STATUS_NONE);
        REQUIRE_EQ(cuStreamEndCapture(origin, &graph), CUDA_ERROR_ILLEGAL_STATE);
    });
    EXPECT_EQ(child.wait(), 0);
}

TEST(Capture, WaitingForACapturedStreamLosesTheCapture) {
    TestDevice device(1);
    Child child([](const Child::Line&) {
        use_device(0);
        launch_busy(nullptr, 1);
        REQUIRE_OK(cuCtxSynchronize());
        CUstream stream = new_stream();
        const auto lost_by = [&](const std::function<CUresult()>& call, CUresult expected) {
            begin(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
            launch_busy(stream, 100);
            REQUIRE_EQ(call(), expected);
            unsigned long long one = 1;
            void* parameters[] = {&one};
            REQUIRE_EQ(cuLaunchKernel(kernel("busy"), 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr),
                       CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
            end_lost(stream);
        };
        lost_by([&] { return cuStreamSynchronize(stream); }, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        lost_by([&] { return cuStreamQuery(stream); }, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        lost_by([] { return cuCtxSynchronize(); }, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        const CUevent event = new_event();
        lost_by(
            [&] {
                REQUIRE_OK(cuEventRecord(event, stream));
                return cuEventSynchronize(event);
            },
            CUDA_ERROR_CAPTURED_EVENT);
        const CUevent outside = new_event();
        REQUIRE_OK(cuEventRecord(outside, nullptr));
        lost_by([&] { return cuStreamWaitEvent(stream, outside, 0); }, CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
    });
    EXPECT_EQ(child.wait(), 0);
}

TEST(Capture, TheLegacyStreamMayNotBeUsedBesideACapturedBlockingStream) {
    TestDevice device(1);
    Child child([](const Child::Line&) {
        use_device(0);
        launch_busy(nullptr, 1);
        unsigned long long one = 1;
        void* parameters[] = {&one};
        CUfunction busy = kernel("busy");
        const auto launch = [&] {
            return cuLaunchKernel(busy, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr);
        };
        REQUIRE_EQ(cuStreamBeginCapture(nullptr, CU_STREAM_CAPTURE_MODE_GLOBAL),
                   CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        CUstream blocking = new_stream(CU_STREAM_DEFAULT);
        begin(blocking);
        CUstreamCaptureStatus status{};
        REQUIRE_EQ(cuStreamIsCapturing(nullptr, &status), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
        REQUIRE_EQ(status_of(blocking), CU_STREAM_CAPTURE_STATUS_ACTIVE);
        REQUIRE_EQ(launch(), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
        end_lost(blocking);
        CUstream free_running = new_stream();
        begin(free_running);
        REQUIRE_OK(launch());
        REQUIRE_EQ(node_count(end(free_running)), 0);
    });
    EXPECT_EQ(child.wait(), 0);
}

TEST(Capture, TheModeSaysWhichCallsAreForbidden) {
    TestDevice device(1);
    Child child([](const Child::Line&) {
        use_device(0);
        CUcontext context = nullptr;
        REQUIRE_OK(cuCtxGetCurrent(&context));
        CUstream stream = new_stream();
        const auto allocation_elsewhere = [&] {
            CUresult result = CUDA_SUCCESS;
            std::thread([&] {
                REQUIRE_OK(cuCtxSetCurrent(context));
                CUdeviceptr pointer = 0;
                result = cuMemAlloc(&pointer, 4096);
            }).join();
            return result;
        };
        const auto allocation_here = [] {
            CUdeviceptr pointer = 0;
            return cuMemAlloc(&pointer, 4096);
        };
        begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
        REQUIRE_EQ(allocation_here(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        end_lost(stream);
        begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
        REQUIRE_EQ(allocation_elsewhere(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        end_lost(stream);
        begin(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
        REQUIRE_OK(allocation_elsewhere());
        REQUIRE_EQ(allocation_here(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        end_lost(stream);
        begin(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
        REQUIRE_OK(allocation_elsewhere());
        REQUIRE_OK(allocation_here());
        end(stream);
        begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
        CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
        REQUIRE_OK(cuThreadExchangeStreamCaptureMode(&mode));
        REQUIRE_EQ(mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
        REQUIRE_OK(allocation_here());
        REQUIRE_OK(cuThreadExchangeStreamCaptureMode(&mode));
        std::thread([&] {
            CUgraph graph = nullptr;
            REQUIRE_OK(cuCtxSetCurrent(context));
            REQUIRE_EQ(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
        }).join();
        end(stream);
    });
    EXPECT_EQ(child.wait(), 0);
}

TEST(Capture, TwoCapturesCantBeJoined) {
    TestDevice device(1);
    Child child([](const Child::Line&) {
        use_device(0);
        launch_busy(nullptr, 1);
        CUstream one = new_stream();
        CUstream two = new_stream();
        const CUevent event = new_event();
        begin(one);
        begin(two);
        launch_busy(one, 1);
        REQUIRE_EQ(cuStreamBeginCapture(one, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_ERROR_ILLEGAL_STATE);
        REQUIRE_OK(cuEventRecord(event, one));
        REQUIRE_EQ(cuStreamWaitEvent(two, event, 0), CUDA_ERROR_STREAM_CAPTURE_MERGE);
        end_lost(one);
        end_lost(two);
    });
    EXPECT_EQ(child.wait(), 0);
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
        REQUIRE_EQ(end(stream) == graph, true);
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
        begin(stream);
        REQUIRE_OK(cuGraphLaunch(inner_exec, stream));
        REQUIRE_OK(cuEventRecordWithFlags(event, stream, CU_EVENT_RECORD_EXTERNAL));
        CUdeviceptr memory = 0;
        REQUIRE_OK(cuMemAllocAsync(&memory, kCount * sizeof(float), stream));
        REQUIRE_OK(cuMemsetD32Async(memory, 0, 0, stream));  // nothing to set: no node
        REQUIRE_OK(cuMemFreeAsync(memory, stream));
        CUgraph graph = end(stream);
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
