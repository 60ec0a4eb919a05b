#include "tests/sim/include/simgpu/nvml.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "tests/sim/device/file/device_path.hpp"
#include "tests/sim/test/support/support.hpp"

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

using List = nvmlReturn_t (*)(nvmlDevice_t, unsigned int*, nvmlProcessInfo_t*);

unsigned int listed(List list) {
    nvmlDevice_t gpu = nullptr;
    EXPECT_EQ(nvmlDeviceGetHandleByIndex_v2(0, &gpu), NVML_SUCCESS);
    nvmlProcessInfo_t info{};
    unsigned int count = 1;
    EXPECT_EQ(list(gpu, &count, &info), NVML_SUCCESS);
    return count;
}

TEST(Nvml, ListsProcessesByTheirTypes) {
    struct Case {
        const char* type;
        unsigned int compute, graphics, mps;
    };
    for (const Case& c : {Case{"C", 1, 0, 0}, {"G", 0, 1, 0}, {"C+G", 1, 1, 0}, {"M+C", 0, 0, 1}}) {
        TestDevice device(1);
        Child child([&c](const Child::Line& line) {
            setenv("SIMGPU_PROCESS_TYPE", c.type, 1);
            use_device(0);
            line.say('a');
            line.wait();
        });
        ASSERT_EQ(child.hear(), 'a');
        ASSERT_EQ(nvmlInit_v2(), NVML_SUCCESS);
        EXPECT_EQ(listed(nvmlDeviceGetComputeRunningProcesses_v3), c.compute) << c.type;
        EXPECT_EQ(listed(nvmlDeviceGetGraphicsRunningProcesses_v3), c.graphics) << c.type;
        EXPECT_EQ(listed(nvmlDeviceGetMPSComputeRunningProcesses_v3), c.mps) << c.type;
        EXPECT_EQ(nvmlShutdown(), NVML_SUCCESS);
    }
}

TEST(Nvml, TellsErrorsOfTheCardsThatAreRegistered) {
    TestDevice device(3);
    ASSERT_EQ(nvmlInit_v2(), NVML_SUCCESS);
    std::vector<nvmlDevice_t> gpus(3);
    for (unsigned int i = 0; i < 3; ++i) ASSERT_EQ(nvmlDeviceGetHandleByIndex_v2(i, &gpus[i]), NVML_SUCCESS);
    const auto file = Device::open(device_path());
    file->report_xid(1, 31);  // before anybody listens
    nvmlEventSet_t set = nullptr;
    ASSERT_EQ(nvmlEventSetCreate(&set), NVML_SUCCESS);
    EXPECT_EQ(nvmlDeviceRegisterEvents(gpus[0], nvmlEventTypeXidCriticalError, set), NVML_SUCCESS);
    EXPECT_EQ(nvmlDeviceRegisterEvents(gpus[1], nvmlEventTypeXidCriticalError, set), NVML_SUCCESS);
    EXPECT_EQ(nvmlDeviceRegisterEvents(gpus[1], 1ULL << 40U, set), NVML_ERROR_NOT_SUPPORTED);
    nvmlEventData_t event{};
    EXPECT_EQ(nvmlEventSetWait_v2(set, &event, 0), NVML_ERROR_TIMEOUT);
    file->report_xid(2, 13);
    file->report_xid(1, 48);
    file->lose(1, true);
    file->report_xid(0, 13);
    ASSERT_EQ(nvmlEventSetWait_v2(set, &event, 0), NVML_SUCCESS);
    EXPECT_EQ(event.device, gpus[1]) << "told though it is lost by now";
    EXPECT_EQ(event.eventType, 8U);
    EXPECT_EQ(event.eventData, 48U);
    ASSERT_EQ(nvmlEventSetWait_v2(set, &event, 1), NVML_SUCCESS);
    EXPECT_EQ(event.device, gpus[0]);
    EXPECT_EQ(nvmlEventSetWait_v2(set, &event, 1), NVML_ERROR_TIMEOUT);
    for (std::uint64_t i = 0; i < kMaxXids + 3; ++i) file->report_xid(0, i);
    ASSERT_EQ(nvmlEventSetWait_v2(set, &event, 0), NVML_SUCCESS);
    EXPECT_EQ(event.eventData, 3U) << "the oldest are lost";
    EXPECT_EQ(nvmlEventSetFree(set), NVML_SUCCESS);
    EXPECT_EQ(nvmlShutdown(), NVML_SUCCESS);
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

std::vector<nvmlProcessUtilizationInfo_v1_t> samples_after(nvmlDevice_t gpu, unsigned long long after_us) {
    nvmlProcessesUtilizationInfo_v1_t info{nvmlProcessesUtilizationInfo_v1, 0, after_us, nullptr};
    if (nvmlDeviceGetProcessesUtilizationInfo(gpu, &info) != NVML_ERROR_INSUFFICIENT_SIZE) return {};
    std::vector<nvmlProcessUtilizationInfo_v1_t> samples(info.processSamplesCount);
    info.procUtilArray = samples.data();
    EXPECT_EQ(nvmlDeviceGetProcessesUtilizationInfo(gpu, &info), NVML_SUCCESS);
    return samples;
}

TEST(Nvml, SamplesOfProcessesAreOfTheTimeThatIsAskedFor) {
    TestDevice device(1);
    Child child([](const Child::Line& line) {
        use_device(0);
        for (int i = 0; i < 20; ++i) launch_busy(nullptr, 100'000);
        line.say('l');
        line.wait();
    });
    ASSERT_EQ(child.hear(), 'l');
    ASSERT_EQ(nvmlInit_v2(), NVML_SUCCESS);
    nvmlDevice_t gpu = nullptr;
    ASSERT_EQ(nvmlDeviceGetHandleByIndex_v2(0, &gpu), NVML_SUCCESS);
    std::vector<nvmlProcessUtilizationInfo_v1_t> samples;
    ASSERT_TRUE(eventually([&] { return !(samples = samples_after(gpu, 0)).empty(); }));
    ASSERT_EQ(samples.size(), 1U);
    EXPECT_EQ(samples[0].pid, static_cast<unsigned int>(child.pid()));
    const auto first = samples[0].timeStamp;
    // The next one is newer, and may exceed 100.
    ASSERT_TRUE(eventually([&] { return !(samples = samples_after(gpu, first)).empty(); }));
    EXPECT_GT(samples[0].timeStamp, first);
    ASSERT_TRUE(eventually([&] {
        samples = samples_after(gpu, first);
        return samples.empty() || samples[0].smUtil > 100;
    }));
    EXPECT_FALSE(samples.empty());
    // Nothing is newer than the future, and an idle process has no sample after a second.
    EXPECT_TRUE(samples_after(gpu, ~0ULL).empty());
    EXPECT_TRUE(eventually([&] { return samples_after(gpu, first).empty(); }));
    unsigned int count = 0;
    EXPECT_EQ(nvmlDeviceGetProcessUtilization(gpu, nullptr, &count, first), NVML_ERROR_NOT_FOUND);
    EXPECT_EQ(nvmlDeviceGetProcessUtilization(gpu, nullptr, nullptr, first), NVML_ERROR_INVALID_ARGUMENT);
    nvmlProcessesUtilizationInfo_v1_t other{1, 0, 0, nullptr};
    EXPECT_EQ(nvmlDeviceGetProcessesUtilizationInfo(gpu, &other), NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
    EXPECT_EQ(nvmlShutdown(), NVML_SUCCESS);
}

TEST(Nvml, WithoutADeviceThereIsNoDriver) {
    setenv("SIMGPU_DEVICE", "/nowhere", 1);
    EXPECT_EQ(nvmlInit_v2(), NVML_ERROR_DRIVER_NOT_LOADED);
    EXPECT_EQ(ask_count(), NVML_ERROR_UNINITIALIZED);
}

}  // namespace
}  // namespace simgpu::test
