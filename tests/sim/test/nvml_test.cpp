#include "tests/sim/include/simgpu/nvml.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "tests/sim/test/support.hpp"

namespace simgpu::test {
namespace {

nvmlReturn_t ask_count() {
    unsigned int count = 0;
    return nvmlDeviceGetCount_v2(&count);
}

TEST(Nvml, TellsMemoryAndProcesses) {
    TestDevice device(2);
    Child child([](const Child::Line& line) {
        use_device(1);
        CUdeviceptr pointer = 0;
        REQUIRE_OK(cuMemAlloc(&pointer, 10 * kMiB));
        line.say('a');
        line.wait();
    });
    ASSERT_EQ(child.hear(), 'a');
    ASSERT_EQ(nvmlInit_v2(), NVML_SUCCESS);
    nvmlDevice_t gpu = nullptr;
    ASSERT_EQ(nvmlDeviceGetHandleByPciBusId_v2("00000000:02:00.0", &gpu), NVML_SUCCESS);
    nvmlMemory_t memory{};
    ASSERT_EQ(nvmlDeviceGetMemoryInfo(gpu, &memory), NVML_SUCCESS);
    EXPECT_EQ(memory.total, 1024 * kMiB);
    EXPECT_EQ(memory.used, 110 * kMiB);
    EXPECT_EQ(memory.free, 914 * kMiB);
    nvmlMemory_v2_t more{};
    EXPECT_EQ(nvmlDeviceGetMemoryInfo_v2(gpu, &more), NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
    more.version = nvmlMemory_v2;
    ASSERT_EQ(nvmlDeviceGetMemoryInfo_v2(gpu, &more), NVML_SUCCESS);
    EXPECT_EQ(more.total, 1048 * kMiB);
    EXPECT_EQ(more.reserved, 24 * kMiB);
    EXPECT_EQ(more.used, 110 * kMiB);
    EXPECT_EQ(more.free, 914 * kMiB);

    unsigned int count = 0;
    EXPECT_EQ(nvmlDeviceGetComputeRunningProcesses_v3(gpu, &count, nullptr), NVML_ERROR_INSUFFICIENT_SIZE);
    ASSERT_EQ(count, 1U);
    nvmlProcessInfo_t info{};
    ASSERT_EQ(nvmlDeviceGetComputeRunningProcesses_v3(gpu, &count, &info), NVML_SUCCESS);
    EXPECT_EQ(info.pid, static_cast<unsigned int>(child.pid()));
    EXPECT_EQ(info.usedGpuMemory, 110 * kMiB);
    child.kill();
    ASSERT_EQ(nvmlDeviceGetComputeRunningProcesses_v3(gpu, &count, &info), NVML_SUCCESS);
    EXPECT_EQ(count, 0U);
    EXPECT_EQ(nvmlShutdown(), NVML_SUCCESS);
    EXPECT_EQ(ask_count(), NVML_ERROR_UNINITIALIZED);
}

TEST(Nvml, TellsTheShareOfTheLastSecond) {
    TestDevice device(1);
    Child child([](const Child::Line& line) {
        use_device(0);
        for (int i = 0; i < 40; ++i) launch_busy(nullptr, 100'000);
        line.say('l');
        line.wait();
    });
    ASSERT_EQ(child.hear(), 'l');
    ASSERT_EQ(nvmlInit_v2(), NVML_SUCCESS);
    nvmlDevice_t gpu = nullptr;
    ASSERT_EQ(nvmlDeviceGetHandleByIndex_v2(0, &gpu), NVML_SUCCESS);
    EXPECT_TRUE(eventually([&] {
        nvmlUtilization_t utilization{};
        EXPECT_EQ(nvmlDeviceGetUtilizationRates(gpu, &utilization), NVML_SUCCESS);
        EXPECT_LE(utilization.gpu, 100U);
        return utilization.gpu == 100;
    }));
    nvmlProcessUtilizationSample_t sample{};
    unsigned int count = 1;
    ASSERT_EQ(nvmlDeviceGetProcessUtilization(gpu, &sample, &count, 0), NVML_SUCCESS);
    EXPECT_EQ(sample.pid, static_cast<unsigned int>(child.pid()));
    EXPECT_EQ(sample.smUtil, 100U);
    EXPECT_EQ(nvmlShutdown(), NVML_SUCCESS);
}

TEST(Nvml, WithoutADeviceThereIsNoDriver) {
    setenv("SIMGPU_DEVICE", "/nowhere", 1);
    EXPECT_EQ(nvmlInit_v2(), NVML_ERROR_DRIVER_NOT_LOADED);
    EXPECT_EQ(ask_count(), NVML_ERROR_UNINITIALIZED);
}

}  // namespace
}  // namespace simgpu::test
