// Copies and memsets that take time, through the driver API.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/sim/driver/stream/copy_time.hpp"
#include "tests/sim/test/support/graph_support.hpp"
#include "tests/sim/test/support/virtual_memory.hpp"

namespace simgpu::test {
namespace {

constexpr std::size_t kSize = 48 * kMiB;
/// The test device has no figure for its memory's clock.
constexpr double kMemoryBytesPerMicrosecond = 100'000;
constexpr double kLinkBytesPerMicrosecond = kLinkBytesPerSecond / 1e6;

/// GPU time that the stream takes for `work`.
double measured(CUstream stream, const std::function<void()>& work) {
    const CUevent start = new_event();
    const CUevent end = new_event();
    Gate gate;
    gate.hold(stream);
    REQUIRE_OK(cuEventRecord(start, stream));
    work();
    REQUIRE_OK(cuEventRecord(end, stream));
    gate.open();
    REQUIRE_OK(cuStreamSynchronize(stream));
    return microseconds_between(start, end);
}

TEST(Engine, CopiesAndMemsetsWithinAGpuAreGpuTime) {
    TestDevice device(1);
    Child child([](const Child::Line&) {
        use_device(0);
        const CUdeviceptr a = allocate(kSize);
        const CUdeviceptr b = allocate(kSize);
        CUstream stream = new_stream();
        double took = measured(stream, [&] { REQUIRE_OK(cuMemcpyDtoDAsync(b, a, kSize, stream)); });
        REQUIRE_EQ(std::lround(took), std::lround(2 * kSize / kMemoryBytesPerMicrosecond));
        took = measured(stream, [&] { REQUIRE_OK(cuMemsetD8Async(a, 7, kSize, stream)); });
        REQUIRE_EQ(std::lround(took), std::lround(kSize / kMemoryBytesPerMicrosecond));
        took = measured(stream, [&] { REQUIRE_OK(cuMemsetD8Async(a, 7, kTimedFrom - 1, stream)); });
        REQUIRE_EQ(took, 0);
    });
    const pid_t pid = child.pid();
    EXPECT_EQ(child.wait(), 0);
    // The copy reads and writes; each of the two is rounded to nanoseconds.
    EXPECT_NEAR(static_cast<double>(device.use(pid).served), 3.0 * static_cast<double>(kSize) / 100, 2.0);
}

TEST(Engine, CopiesToAndFromTheHostHoldTheirStreamAndNotTheGpu) {
    TestDevice device(1);
    Child child([](const Child::Line&) {
        use_device(0);
        const CUdeviceptr memory = allocate(kSize);
        void* pinned = nullptr;
        REQUIRE_OK(cuMemHostAlloc(&pinned, kSize, 0));
        CUstream stream = new_stream();
        double took = measured(stream, [&] { REQUIRE_OK(cuMemcpyHtoDAsync(memory, pinned, kSize, stream)); });
        REQUIRE_EQ(std::lround(took), std::lround(kSize / kLinkBytesPerMicrosecond));
        took = measured(stream, [&] { REQUIRE_OK(cuMemcpyDtoHAsync(pinned, memory, kSize, stream)); });
        REQUIRE_EQ(std::lround(took), std::lround(kSize / kLinkBytesPerMicrosecond));
    });
    const pid_t pid = child.pid();
    EXPECT_EQ(child.wait(), 0);
    EXPECT_EQ(device.use(pid).served, 0);
}

TEST(Engine, CopiesOfBoxesArraysAndMappedMemoryTakeTheSameTime) {
    TestDevice device(1);
    Child child([](const Child::Line&) {
        use_device(0);
        constexpr std::size_t kSide = 1000;
        constexpr std::size_t kBytes = kSide * kSide * 4;
        const CUDA_ARRAY3D_DESCRIPTOR extents{kSide, kSide, 4, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0};
        CUarray array = nullptr;
        REQUIRE_OK(cuArray3DCreate(&array, &extents));
        const CUdeviceptr mapped = map(create(on_gpu(0), 4 * kMiB), 4 * kMiB);
        void* pinned = nullptr;
        REQUIRE_OK(cuMemHostAlloc(&pinned, kBytes, 0));
        CUstream stream = new_stream();
        CUDA_MEMCPY3D box{};
        box.srcMemoryType = CU_MEMORYTYPE_ARRAY;
        box.srcArray = array;
        box.dstMemoryType = CU_MEMORYTYPE_DEVICE;
        box.dstDevice = mapped;
        box.WidthInBytes = box.Height = kSide;
        box.Depth = 4;
        double took = measured(stream, [&] { REQUIRE_OK(cuMemcpy3DAsync(&box, stream)); });
        REQUIRE_EQ(std::lround(took), std::lround(2 * kBytes / kMemoryBytesPerMicrosecond));
        took = measured(stream, [&] { REQUIRE_OK(cuMemcpyHtoAAsync(array, 0, pinned, kBytes, stream)); });
        REQUIRE_EQ(std::lround(took), std::lround(kBytes / kLinkBytesPerMicrosecond));
        took = measured(stream, [&] { REQUIRE_OK(cuMemcpyDtoHAsync(pinned, mapped, kBytes, stream)); });
        REQUIRE_EQ(std::lround(took), std::lround(kBytes / kLinkBytesPerMicrosecond));
    });
    EXPECT_EQ(child.wait(), 0);
}

TEST(Engine, ACopyAndAKernelOverlap) {
    TestDevice device(1);
    Child child([](const Child::Line&) {
        use_device(0);
        const CUdeviceptr memory = allocate(kSize);
        void* pinned = nullptr;
        REQUIRE_OK(cuMemHostAlloc(&pinned, kSize, 0));
        CUstream copying = new_stream();
        CUstream stream = new_stream();
        const CUevent go = new_event(CU_EVENT_DISABLE_TIMING);
        const CUevent copied = new_event(CU_EVENT_DISABLE_TIMING);
        const double took = measured(stream, [&] {
            REQUIRE_OK(cuEventRecord(go, stream));
            REQUIRE_OK(cuStreamWaitEvent(copying, go, 0));
            REQUIRE_OK(cuMemcpyHtoDAsync(memory, pinned, kSize, copying));
            REQUIRE_OK(cuEventRecord(copied, copying));
            launch_busy(stream, 3'000);
            REQUIRE_OK(cuStreamWaitEvent(stream, copied, 0));
        });
        // 4194 µs of copying, the kernel beside it.
        REQUIRE_EQ(std::lround(took), std::lround(kSize / kLinkBytesPerMicrosecond));
    });
    EXPECT_EQ(child.wait(), 0);
}

TEST(Engine, ABatchIsItsCopies) {
    TestDevice device(1);
    Child child([](const Child::Line&) {
        use_device(0);
        CUdeviceptr to[] = {allocate(kSize), allocate(4)};
        CUdeviceptr from[] = {allocate(kSize), allocate(4)};
        std::size_t sizes[] = {kSize, 4};
        REQUIRE_OK(cuMemsetD32(from[1], 17, 1));
        CUstream stream = new_stream();
        const double took = measured(
            stream, [&] { REQUIRE_OK(cuMemcpyBatchAsync(to, from, sizes, 2, nullptr, nullptr, 0, stream)); });
        REQUIRE_EQ(std::lround(took), std::lround(2 * kSize / kMemoryBytesPerMicrosecond));
        unsigned int value = 0;
        REQUIRE_OK(cuMemcpyDtoH(&value, to[1], 4));
        REQUIRE_EQ(value, 17);
    });
    EXPECT_EQ(child.wait(), 0);
}

TEST(Engine, MemoryBandwidthIsTheCards) {
    Card v100{};
    v100.memory_clock_mhz = 877;
    v100.memory_bus_bits = 4096;
    EXPECT_EQ(memory_bytes_per_second(v100), 898'048'000'000U);
}

}  // namespace
}  // namespace simgpu::test
