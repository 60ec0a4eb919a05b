// What is forbidden while a stream is captured.
#include <gtest/gtest.h>

#include <thread>

#include "tests/sim/test/support/capture_support.hpp"

namespace simgpu::test {
namespace {

TEST(Capture, WhatIsNotJoinedIsAnError) {
    TestDevice device(1);
    Child child([](const Child::Line&) {
        use_device(0);
        launch_busy(nullptr, 1);
        CUstream origin = new_stream();
        CUstream side = new_stream();
        const CUevent fork = new_event();
        begin_capture(origin);
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
            begin_capture(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
            launch_busy(stream, 100);
            REQUIRE_EQ(call(), expected);
            unsigned long long one = 1;
            void* parameters[] = {&one};
            REQUIRE_EQ(cuLaunchKernel(kernel("busy"), 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr),
                       CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
            end_lost_capture(stream);
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
        begin_capture(blocking);
        CUstreamCaptureStatus status{};
        REQUIRE_EQ(cuStreamIsCapturing(nullptr, &status), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
        REQUIRE_EQ(status_of(blocking), CU_STREAM_CAPTURE_STATUS_ACTIVE);
        REQUIRE_EQ(launch(), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
        end_lost_capture(blocking);
        CUstream free_running = new_stream();
        begin_capture(free_running);
        REQUIRE_OK(launch());
        REQUIRE_EQ(node_count(end_capture(free_running)), 0);
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
        begin_capture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
        REQUIRE_EQ(allocation_here(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        end_lost_capture(stream);
        begin_capture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
        REQUIRE_EQ(allocation_elsewhere(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        end_lost_capture(stream);
        begin_capture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
        REQUIRE_OK(allocation_elsewhere());
        REQUIRE_EQ(allocation_here(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        end_lost_capture(stream);
        begin_capture(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
        REQUIRE_OK(allocation_elsewhere());
        REQUIRE_OK(allocation_here());
        end_capture(stream);
        begin_capture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
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
        end_capture(stream);
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
        begin_capture(one);
        begin_capture(two);
        launch_busy(one, 1);
        REQUIRE_EQ(cuStreamBeginCapture(one, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_ERROR_ILLEGAL_STATE);
        REQUIRE_OK(cuEventRecord(event, one));
        REQUIRE_EQ(cuStreamWaitEvent(two, event, 0), CUDA_ERROR_STREAM_CAPTURE_MERGE);
        end_lost_capture(one);
        end_lost_capture(two);
    });
    EXPECT_EQ(child.wait(), 0);
}

}  // namespace
}  // namespace simgpu::test
