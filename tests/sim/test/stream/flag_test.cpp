// Kernels and streams that wait for words of memory.
#include <gtest/gtest.h>

#include "tests/sim/test/support/graph_support.hpp"

namespace simgpu::test {
namespace {

void launch_on_flag(const char* name, CUstream stream, CUdeviceptr flag, unsigned int value) {
    void* parameters[] = {&flag, &value};
    REQUIRE_OK(cuLaunchKernel(kernel(name), 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr));
}

CUdeviceptr new_flag() {
    const CUdeviceptr flag = allocate(64);
    REQUIRE_OK(cuMemsetD32(flag, 0, 16));
    return flag;
}

TEST(Flag, AKernelSpinsUntilAnotherStreamsKernelSetsTheFlag) {
    TestDevice device(1);
    Child child([](const Child::Line&) {
        use_device(0);
        const CUdeviceptr flag = new_flag();
        CUstream waiting = new_stream();
        CUstream setting = new_stream();
        Gate gate;
        gate.hold(waiting);
        gate.hold(setting);
        // Both begin together: 3 ms of work beside the spinning kernel take 6 ms.
        launch_on_flag("wait_for_flag", waiting, flag, 1);
        launch_busy(setting, 2'998);
        launch_on_flag("set_flag", setting, flag, 1);
        gate.open();
        REQUIRE_OK(cuStreamSynchronize(waiting));
        unsigned int value = 0;
        REQUIRE_OK(cuMemcpyDtoH(&value, flag, 4));
        REQUIRE_EQ(value, 1);
    });
    const pid_t pid = child.pid();
    EXPECT_EQ(child.wait(), 0);
    EXPECT_EQ(device.use(pid).served, 6'000'000);
}

TEST(Flag, ASpinningKernelSeesWhatTheHostWrites) {
    TestDevice device(1);
    Child child([](const Child::Line&) {
        use_device(0);
        void* pinned = nullptr;
        REQUIRE_OK(cuMemHostAlloc(&pinned, 4096, 0));
        auto* word = static_cast<volatile unsigned int*>(pinned);
        CUstream stream = new_stream();
        launch_on_flag("wait_for_flag", stream, reinterpret_cast<CUdeviceptr>(pinned), 5);
        REQUIRE_EQ(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
        *word = 5;
        REQUIRE_OK(cuStreamSynchronize(stream));
    });
    EXPECT_EQ(child.wait(), 0);
}

TEST(Flag, ASpinInFrontOfItsSetterInTheSameStreamNeverEnds) {
    TestDevice device(1);
    Child child([](const Child::Line& line) {
        use_device(0);
        const CUdeviceptr flag = new_flag();
        launch_on_flag("wait_for_flag", nullptr, flag, 1);
        launch_on_flag("set_flag", nullptr, flag, 1);
        REQUIRE_EQ(cuStreamQuery(nullptr), CUDA_ERROR_NOT_READY);
        line.say('q');
        cuCtxSynchronize();
        line.say('d');
    });
    ASSERT_EQ(child.hear(), 'q');
    const pid_t pid = child.pid();
    // It holds the GPU and never ends; a process that is killed leaves nothing behind.
    ASSERT_TRUE(eventually([&] { return device.use(pid).served > 50'000'000; }));
    child.kill();
    EXPECT_EQ(child.hear(), '\0');
    EXPECT_EQ(device.used_bytes(), 0U);
    EXPECT_EQ(device.device().layout().timeline.words[0].taken_by, 0U);
}

TEST(Flag, StreamsWaitForAndWriteWords) {
    TestDevice device(1);
    Child child([](const Child::Line&) {
        use_device(0);
        const CUdeviceptr words = new_flag();
        CUstream waiting = new_stream();
        CUstream writing = new_stream();
        const CUevent wrote = new_event();
        const CUevent went_on = new_event();
        Gate gate;
        gate.hold(writing);
        REQUIRE_OK(cuStreamWaitValue32(waiting, words, 3, CU_STREAM_WAIT_VALUE_GEQ));
        REQUIRE_OK(cuStreamWaitValue64(waiting, words + 8, 1ULL << 40, CU_STREAM_WAIT_VALUE_AND));
        REQUIRE_OK(cuEventRecord(went_on, waiting));
        REQUIRE_OK(cuStreamWriteValue32(writing, words, 4, 0));
        launch_busy(writing, 1'000);
        REQUIRE_OK(cuStreamWriteValue64(writing, words + 8, 3ULL << 40, 0));
        REQUIRE_OK(cuEventRecord(wrote, writing));
        gate.open();
        REQUIRE_OK(cuStreamSynchronize(waiting));
        REQUIRE_OK(cuStreamSynchronize(writing));
        REQUIRE_EQ(microseconds_between(wrote, went_on), 0);
        unsigned long long value = 0;
        REQUIRE_OK(cuMemcpyDtoH(&value, words + 8, 8));
        REQUIRE_EQ(value, 3ULL << 40);
        REQUIRE_EQ(cuStreamWaitValue32(waiting, words + 2, 1, 0), CUDA_ERROR_INVALID_VALUE);
        REQUIRE_EQ(cuStreamWriteValue32(waiting, words + 64, 1, 0), CUDA_ERROR_INVALID_VALUE);
        CUstreamBatchMemOpParams operations[2] = {};
        operations[0].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
        operations[0].writeValue.address = words;
        operations[0].writeValue.value = 9;
        operations[1].waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
        operations[1].waitValue.address = words;
        operations[1].waitValue.value = 9;
        operations[1].waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
        REQUIRE_OK(cuStreamBatchMemOp(writing, 2, operations, 0));
        REQUIRE_OK(cuStreamSynchronize(writing));
    });
    const pid_t pid = child.pid();
    EXPECT_EQ(child.wait(), 0);
    EXPECT_EQ(device.use(pid).served, 1'000'000);
}

TEST(Flag, AGraphsBranchesCanWaitForEachOther) {
    TestDevice device(1);
    Child child([](const Child::Line&) {
        use_device(0);
        const CUdeviceptr flag = new_flag();
        launch_busy(nullptr, 1);
        CUstream origin = new_stream();
        CUstream side = new_stream();
        const CUevent fork = new_event(CU_EVENT_DISABLE_TIMING);
        const CUevent join = new_event(CU_EVENT_DISABLE_TIMING);
        CUfunction wait = kernel("wait_for_flag");
        CUfunction set = kernel("set_flag");
        REQUIRE_OK(cuStreamBeginCapture(origin, CU_STREAM_CAPTURE_MODE_GLOBAL));
        REQUIRE_OK(cuStreamWriteValue32(origin, flag, 0, 0));
        REQUIRE_OK(cuEventRecord(fork, origin));
        REQUIRE_OK(cuStreamWaitEvent(side, fork, 0));
        CUdeviceptr where = flag;
        unsigned int one = 1;
        void* parameters[] = {&where, &one};
        REQUIRE_OK(cuLaunchKernel(wait, 1, 1, 1, 1, 1, 1, 0, origin, parameters, nullptr));
        launch_busy(side, 500);
        REQUIRE_OK(cuLaunchKernel(set, 1, 1, 1, 1, 1, 1, 0, side, parameters, nullptr));
        REQUIRE_OK(cuEventRecord(join, side));
        REQUIRE_OK(cuStreamWaitEvent(origin, join, 0));
        CUgraph graph = nullptr;
        REQUIRE_OK(cuStreamEndCapture(origin, &graph));
        CUgraphExec exec = instantiate(graph);
        for (int i = 0; i < 3; ++i) {
            REQUIRE_OK(cuGraphLaunch(exec, origin));
            REQUIRE_OK(cuStreamSynchronize(origin));
        }
    });
    EXPECT_EQ(child.wait(), 0);
}

}  // namespace
}  // namespace simgpu::test
