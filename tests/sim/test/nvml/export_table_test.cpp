// The private table that NVIDIA's nvidia-smi uses.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/sim/include/simgpu/nvml.h"
#include "tests/sim/test/support/support.hpp"

namespace simgpu::test {
namespace {

constexpr std::array<unsigned char, 16> kTableId = {0xc4, 0xfe, 0x3e, 0x6c, 0xc9, 0x8f, 0x6c, 0x4e,
                                                    0xa3, 0x27, 0xee, 0x69, 0x6e, 0x12, 0xf7, 0xc4};

using GetTable = nvmlReturn_t (*)(const void**, const void*);
using HandleEntry = nvmlReturn_t (*)(unsigned int, nvmlDevice_t*, unsigned int);
using ListEntry = nvmlReturn_t (*)(nvmlDevice_t, unsigned int*, void*);

const void* const* table_of(GetTable get) {
    const void* table = nullptr;
    EXPECT_EQ(get(&table, kTableId.data()), NVML_SUCCESS);
    return static_cast<const void* const*>(table);
}

std::size_t bytes_of(const void* const* table) {
    std::size_t bytes = 0;
    std::memcpy(&bytes, table, sizeof bytes);
    return bytes;
}

template <typename Function>
Function entry_of(const void* const* table, std::size_t number) {
    return reinterpret_cast<Function>(const_cast<void*>(table[number]));
}

// As NVIDIA's libraries were seen to answer, 470 to 555 without a GPU.
TEST(ExportTable, IsFoundByItsIdOnlyAndBeforeInit) {
    const int none = 0;
    const void* const untouched = &none;
    const void* table = untouched;
    EXPECT_EQ(nvmlInternalGetExportTable(&table, nullptr), NVML_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(table, untouched);
    EXPECT_EQ(nvmlInternalGetExportTable(nullptr, kTableId.data()), NVML_ERROR_INVALID_ARGUMENT);
    const std::array<unsigned char, 16> other{1};
    EXPECT_EQ(nvmlInternalGetExportTable(&table, other.data()), NVML_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(table, nullptr);

    const void* const* words = table_of(nvmlInternalGetExportTable);
    ASSERT_NE(words, nullptr);
    unsigned int count = 0;
    EXPECT_EQ(entry_of<ListEntry>(words, 213)(nullptr, &count, nullptr), NVML_ERROR_UNINITIALIZED);
    EXPECT_EQ(entry_of<HandleEntry>(words, 81)(0, nullptr, 0x22), NVML_ERROR_UNINITIALIZED);
}

TEST(ExportTable, ListsProcessesWithTheirNames) {
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
    const void* const* words = table_of(nvmlInternalGetExportTable);
    nvmlDevice_t gpu = nullptr;
    ASSERT_EQ(entry_of<HandleEntry>(words, 81)(1, &gpu, 0x22), NVML_SUCCESS);
    EXPECT_EQ(entry_of<ListEntry>(words, 249)(gpu, nullptr, nullptr), NVML_ERROR_NOT_SUPPORTED);

    struct Process {
        unsigned int pid;
        unsigned long long bytes;
        unsigned int gpu_instance, compute_instance;
        unsigned long long protected_bytes;
        char name[4096];
    };
    unsigned int count = 0;
    EXPECT_EQ(entry_of<ListEntry>(words, 213)(gpu, &count, nullptr), NVML_ERROR_INSUFFICIENT_SIZE);
    EXPECT_EQ(count, 1U);
    std::vector<Process> processes(2);
    count = 2;
    ASSERT_EQ(entry_of<ListEntry>(words, 213)(gpu, &count, processes.data()), NVML_SUCCESS);
    ASSERT_EQ(count, 1U);
    EXPECT_EQ(processes[0].pid, static_cast<unsigned int>(child.pid()));
    EXPECT_EQ(processes[0].bytes, 110 * kMiB);
    EXPECT_EQ(processes[0].gpu_instance, ~0U);
    EXPECT_EQ(std::filesystem::path(processes[0].name).filename(), "simgpu_driver_test");
    for (const std::size_t others : {std::size_t{214}, std::size_t{215}}) {
        count = 2;
        EXPECT_EQ(entry_of<ListEntry>(words, others)(gpu, &count, processes.data()), NVML_SUCCESS);
        EXPECT_EQ(count, 0U);
    }
    EXPECT_EQ(nvmlShutdown(), NVML_SUCCESS);
}

TEST(ExportTable, HasTheSizeOfTheDriversVersion) {
    const struct {
        const char* driver;
        std::size_t bytes;
    } cases[] = {{"470/libnvidia-ml.so.470.256.02", 1704},
                 {"525/libnvidia-ml.so.525.147.05", 1904},
                 {"535/libnvidia-ml.so.535.261.03", 1960},
                 {"550/libnvidia-ml.so.550.163.01", 2008}};
    for (const auto& c : cases) {
        void* library = dlopen((SIMGPU_OLDER "/" + std::string(c.driver)).c_str(), RTLD_NOW | RTLD_LOCAL);
        ASSERT_NE(library, nullptr) << dlerror();
        const auto get = reinterpret_cast<GetTable>(dlsym(library, "nvmlInternalGetExportTable"));
        ASSERT_NE(get, nullptr);
        EXPECT_EQ(bytes_of(table_of(get)), c.bytes) << c.driver;
        EXPECT_EQ(dlsym(library, "nvmlDeviceGetRunningProcessDetailList") != nullptr, c.bytes >= 1960)
            << c.driver;
        const auto version = reinterpret_cast<nvmlReturn_t (*)(char*, unsigned int)>(
            dlsym(library, "nvmlSystemGetNVMLVersion"));
        char text[80];
        EXPECT_EQ(version(text, sizeof text), c.bytes >= 1960 ? NVML_SUCCESS : NVML_ERROR_UNINITIALIZED);
    }
}

TEST(ExportTable, IsNotAllThatNvidiaSmiReads) {
    TestDevice device(1);
    ASSERT_EQ(nvmlInit_v2(), NVML_SUCCESS);
    nvmlDevice_t gpu = nullptr;
    ASSERT_EQ(nvmlDeviceGetHandleByIndex_v2(0, &gpu), NVML_SUCCESS);
    unsigned int count = 7;
    EXPECT_EQ(nvmlDeviceGetMaxMigDeviceCount(gpu, &count), NVML_SUCCESS);
    EXPECT_EQ(count, 0U) << "NVIDIA's container toolkit asks for it";

    // It reads each field's own result, whatever the call's.
    nvmlFieldValue_t fields[2]{};
    fields[1].fieldId = 186;
    fields[1].value = 7;
    EXPECT_EQ(nvmlDeviceGetFieldValues(gpu, 2, fields), NVML_SUCCESS);
    for (const nvmlFieldValue_t& field : fields) EXPECT_EQ(field.nvmlReturn, NVML_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(fields[1].fieldId, 186U);
    EXPECT_EQ(nvmlDeviceGetFieldValues(gpu, 2, nullptr), NVML_ERROR_INVALID_ARGUMENT);

    // From 550 on, the bus of a process's GPU.
    nvmlPciInfoExt_v1_t pci{};
    EXPECT_EQ(nvmlDeviceGetPciInfoExt(gpu, &pci), NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
    pci.version = nvmlPciInfoExt_v1;
    EXPECT_EQ(nvmlDeviceGetPciInfoExt(gpu, &pci), NVML_SUCCESS);
    EXPECT_STREQ(pci.busId, "00000000:01:00.0");
    EXPECT_EQ(nvmlShutdown(), NVML_SUCCESS);
}

}  // namespace
}  // namespace simgpu::test
