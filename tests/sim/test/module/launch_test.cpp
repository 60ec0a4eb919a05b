// Cooperative launches, launch attributes and priorities.
#include <gtest/gtest.h>

#include "tests/sim/test/support/graph_support.hpp"

namespace simgpu::test {
namespace {

CUresult launch_cooperative(CUstream stream, unsigned int blocks, unsigned int threads) {
    unsigned long long microseconds = 1'000;
    void* parameters[] = {&microseconds};
    return cuLaunchCooperativeKernel(kernel("busy"), blocks, 1, 1, threads, 1, 1, 0, stream, parameters);
}

CUresult launch_with(CUlaunchAttribute attribute, CUstream stream, unsigned long long microseconds,
                     unsigned int blocks = 1) {
    CUlaunchConfig config{};
    config.gridDimX = blocks;
    config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = config.blockDimY = config.blockDimZ = 1;
    config.hStream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    void* parameters[] = {&microseconds};
    return cuLaunchKernelEx(&config, kernel("busy"), parameters, nullptr);
}

TEST(Launch, ACooperativeGridMustFitOnTheGpuAtOnce) {
    TestDevice device(1);  // of 80 multiprocessors with room for 2048 threads each
    Child child([](const Child::Line&) {
        use_device(0);
        REQUIRE_OK(launch_cooperative(nullptr, 160, 1024));
        REQUIRE_EQ(launch_cooperative(nullptr, 161, 1024), CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
        REQUIRE_OK(launch_cooperative(nullptr, 80 * 32, 32));
        REQUIRE_EQ(launch_cooperative(nullptr, 80 * 32 + 1, 32), CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
        CUlaunchAttribute cooperative{};
        cooperative.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
        cooperative.value.cooperative = 1;
        REQUIRE_EQ(launch_with(cooperative, nullptr, 1'000, 80 * 32 + 1),
                   CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
        REQUIRE_OK(launch_with(cooperative, nullptr, 1'000));
        CUlaunchAttribute unknown{};
        unknown.id = CU_LAUNCH_ATTRIBUTE_MAX;
        REQUIRE_EQ(launch_with(unknown, nullptr, 1), CUDA_ERROR_INVALID_VALUE);
        REQUIRE_OK(cuCtxSynchronize());
    });
    const pid_t pid = child.pid();
    EXPECT_EQ(child.wait(), 0);
    EXPECT_EQ(device.use(pid).served, 3'000'000);
}

TEST(Launch, AnUrgentStreamGoesFirstAtTheEndOfTheRunningKernel) {
    TestDevice device(1);
    Child child([](const Child::Line&) {
        use_device(0);
        CUstream low = new_stream();
        CUstream urgent = nullptr;
        REQUIRE_OK(cuStreamCreateWithPriority(&urgent, CU_STREAM_NON_BLOCKING, -5));
        const CUevent low_end = new_event();
        const CUevent urgent_end = new_event();
        Gate gate;
        gate.hold(low);
        gate.hold(urgent);
        for (int i = 0; i < 10; ++i) launch_busy(low, 1'000);
        REQUIRE_OK(cuEventRecord(low_end, low));
        for (int i = 0; i < 10; ++i) launch_busy(urgent, 1'000);
        REQUIRE_OK(cuEventRecord(urgent_end, urgent));
        gate.open();
        REQUIRE_OK(cuCtxSynchronize());
        // At most one of the others' kernels ended before the urgent ones did.
        REQUIRE_EQ(microseconds_between(urgent_end, low_end) >= 9'000, true);
    });
    EXPECT_EQ(child.wait(), 0);
}

TEST(Launch, AttributesGiveAKernelAPriorityAndRecordEvents) {
    TestDevice device(1);
    Child child([](const Child::Line&) {
        use_device(0);
        CUstream low = new_stream();
        CUstream other = new_stream();
        const CUevent low_end = new_event();
        const CUevent other_end = new_event();
        CUlaunchAttribute urgent{};
        urgent.id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
        urgent.value.priority = -3;
        Gate gate;
        gate.hold(low);
        gate.hold(other);
        for (int i = 0; i < 5; ++i) launch_busy(low, 1'000);
        REQUIRE_OK(cuEventRecord(low_end, low));
        for (int i = 0; i < 5; ++i) REQUIRE_OK(launch_with(urgent, other, 1'000));
        REQUIRE_OK(cuEventRecord(other_end, other));
        gate.open();
        REQUIRE_OK(cuCtxSynchronize());
        REQUIRE_EQ(microseconds_between(other_end, low_end) >= 4'000, true);

        const CUevent began = new_event();
        const CUevent ended = new_event();
        Gate second_gate;
        second_gate.hold(low);
        CUlaunchAttribute at_start{};
        at_start.id = CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT;
        at_start.value.launchCompletionEvent.event = began;
        REQUIRE_OK(launch_with(at_start, low, 2'000));
        CUlaunchAttribute at_end{};
        at_end.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT;
        at_end.value.programmaticEvent.event = ended;
        REQUIRE_OK(launch_with(at_end, low, 1'000));
        second_gate.open();
        REQUIRE_OK(cuCtxSynchronize());
        REQUIRE_EQ(microseconds_between(began, ended), 3'000);
    });
    EXPECT_EQ(child.wait(), 0);
}

}  // namespace
}  // namespace simgpu::test
