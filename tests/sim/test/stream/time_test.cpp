// GPU time and order, through the driver API.
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <vector>

#include "tests/sim/test/support/support.hpp"

namespace simgpu::test {
namespace {

/// From here on any other system call kills the process. (The strict mode of seccomp would forbid the clock,
/// too.)
void allow_only_write_and_exit() {
    sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    sock_fprog filter{5, program};
    REQUIRE_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    REQUIRE_EQ(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter), 0);
}

TEST(Time, EventsTellTheGpusTimeExactly) {
    TestDevice device(1);
    Child child([](const Child::Line&) {
        use_device(0);
        CUevent start = nullptr;
        CUevent end = nullptr;
        REQUIRE_OK(cuEventCreate(&start, 0));
        REQUIRE_OK(cuEventCreate(&end, 0));
        launch_busy(nullptr, 20'000);  // so that all the rest is queued when its turn comes
        REQUIRE_OK(cuEventRecord(start, nullptr));
        launch_busy(nullptr, 3'000);
        launch_busy(nullptr, 2'000);
        REQUIRE_OK(cuEventRecord(end, nullptr));
        float milliseconds = 0;
        REQUIRE_EQ(cuEventElapsedTime(&milliseconds, start, end), CUDA_ERROR_NOT_READY);
        REQUIRE_EQ(cuEventQuery(end), CUDA_ERROR_NOT_READY);
        REQUIRE_OK(cuEventSynchronize(end));
        REQUIRE_OK(cuEventQuery(start));
        REQUIRE_OK(cuEventElapsedTime(&milliseconds, start, end));
        REQUIRE_EQ(milliseconds * 1000, 5'000);
        REQUIRE_OK(cuEventDestroy(start));
        REQUIRE_OK(cuEventDestroy(end));
    });
    const pid_t pid = child.pid();
    EXPECT_EQ(child.wait(), 0);
    EXPECT_EQ(device.use(pid).served, 25'000'000);
}

TEST(Time, TwoProcessesWithQueuedWorkAreServedAlike) {
    TestDevice device(1);
    const auto queue_much = [](const Child::Line& line) {
        use_device(0);
        for (int i = 0; i < 1000; ++i) launch_busy(nullptr, 1'000);
        line.say('q');
        line.wait();
    };
    Child one(queue_much);
    Child two(queue_much);
    ASSERT_EQ(one.hear(), 'q');
    ASSERT_EQ(two.hear(), 'q');
    const Nanoseconds one_before = device.use(one.pid()).served;
    const Nanoseconds two_before = device.use(two.pid()).served;
    ASSERT_TRUE(eventually([&] { return device.use(one.pid()).served - one_before > 200'000'000; }));
    const Nanoseconds difference =
        (device.use(one.pid()).served - one_before) - (device.use(two.pid()).served - two_before);
    // Each of the readings may fall anywhere in a slice, and time passes between two of them.
    EXPECT_LE(std::abs(difference), 3 * 2'000'000);
}

TEST(Time, ALaunchMakesNoSystemCall) {
    TestDevice device(1);
    Child child([](const Child::Line& line) {
        use_device(0);
        launch_busy(nullptr, 1'000'000);
        for (int i = 0; i < 100; ++i) launch_busy(nullptr, 1);
        allow_only_write_and_exit();
        for (int i = 0; i < 800; ++i) launch_busy(nullptr, 1);
        line.say('l');
        syscall(SYS_exit, 0);
    });
    EXPECT_EQ(child.hear(), 'l');
}

TEST(Time, ALaunchIntoAFullQueueWaitsAndNoneIsLost) {
    TestDevice device(1);
    Child child([](const Child::Line&) {
        use_device(0);
        for (int i = 0; i < 20'000; ++i) launch_busy(nullptr, 5);
        REQUIRE_OK(cuCtxSynchronize());
    });
    const pid_t pid = child.pid();
    EXPECT_EQ(child.wait(), 0);
    EXPECT_EQ(device.use(pid).served, 100'000'000);
}

TEST(Time, TheLegacyDefaultStreamWaitsForBlockingStreamsAndTheyForIt) {
    TestDevice device(1);
    Child child([](const Child::Line&) {
        use_device(0);
        CUstream blocking = nullptr;
        CUstream free_running = nullptr;
        REQUIRE_OK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
        REQUIRE_OK(cuStreamCreate(&free_running, CU_STREAM_NON_BLOCKING));
        launch_busy(blocking, 50'000);
        launch_busy(nullptr, 1);
        launch_busy(blocking, 1);
        launch_busy(free_running, 1);
        REQUIRE_OK(cuStreamSynchronize(free_running));
        REQUIRE_EQ(cuStreamQuery(nullptr), CUDA_ERROR_NOT_READY);
        REQUIRE_OK(cuStreamSynchronize(nullptr));
        REQUIRE_OK(cuStreamSynchronize(blocking));
        REQUIRE_OK(cuStreamDestroy(blocking));
    });
    EXPECT_EQ(child.wait(), 0);
}

TEST(Time, AStreamWaitsForAnEventOfAnotherAndHostFunctionsKeepTheOrder) {
    TestDevice device(1);
    Child child([](const Child::Line&) {
        use_device(0);
        CUstream first = nullptr;
        CUstream second = nullptr;
        CUevent event = nullptr;
        REQUIRE_OK(cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
        REQUIRE_OK(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
        REQUIRE_OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
        static std::atomic<int> step{0};
        launch_busy(first, 10'000);
        REQUIRE_OK(cuLaunchHostFunc(
            first, [](void*) { REQUIRE_EQ(step.exchange(1), 0); }, nullptr));
        REQUIRE_OK(cuEventRecord(event, first));
        REQUIRE_OK(cuStreamWaitEvent(second, event, 0));
        REQUIRE_OK(cuLaunchHostFunc(
            second, [](void*) { REQUIRE_EQ(step.exchange(2), 1); }, nullptr));
        REQUIRE_OK(cuStreamSynchronize(second));
        REQUIRE_EQ(step.load(), 2);
        REQUIRE_OK(cuStreamQuery(first));
    });
    EXPECT_EQ(child.wait(), 0);
}

TEST(Time, MoreStreamsThanQueuesStillAllRun) {
    TestDevice device(1);
    Child child([](const Child::Line&) {
        use_device(0);
        std::vector<CUstream> streams(100);
        for (CUstream& stream : streams) REQUIRE_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
        for (CUstream stream : streams) launch_busy(stream, 100);
        REQUIRE_OK(cuCtxSynchronize());
        for (CUstream stream : streams) REQUIRE_OK(cuStreamDestroy(stream));
    });
    const pid_t pid = child.pid();
    EXPECT_EQ(child.wait(), 0);
    EXPECT_NEAR(static_cast<double>(device.use(pid).served), 10'000'000.0, 100.0);
}

TEST(Time, TwoProcessesRendezvousOnTwoGpus) {
    TestDevice device(2);
    const auto meet = [](const Child::Line&) {
        CUcontext contexts[2];
        CUfunction kernels[2];
        for (int d = 0; d < 2; ++d) {
            use_device(d);
            REQUIRE_OK(cuCtxGetCurrent(&contexts[d]));
            kernels[d] = kernel("rendezvous");
        }
        for (int round = 0; round < 50; ++round) {
            unsigned int gpus = 2;
            void* parameters[] = {&gpus};
            for (int d = 0; d < 2; ++d) {
                REQUIRE_OK(cuCtxSetCurrent(contexts[d]));
                REQUIRE_OK(cuLaunchKernel(kernels[d], 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
            }
            for (CUcontext context : contexts) {
                REQUIRE_OK(cuCtxSetCurrent(context));
                REQUIRE_OK(cuCtxSynchronize());
            }
        }
    };
    Child one(meet);
    Child two(meet);
    EXPECT_EQ(one.wait(), 0);
    EXPECT_EQ(two.wait(), 0);
}

}  // namespace
}  // namespace simgpu::test
