// The limits of cgroups' memory that drivers have from 615 on.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "tests/sim/include/simgpu/nvml.h"
#include "tests/sim/test/support/support.hpp"

namespace simgpu::test {
namespace {

/// NVML of 615 on a device of its own, and a folder with one in it, as if they were cgroups.
class CgroupLimits : public testing::Test {
  protected:
    void SetUp() override {
        std::string name = testing::TempDir() + "cgroupXXXXXX";
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        parent_ = name;
        child_ = name + "/child";
        std::filesystem::create_directory(child_);
        library_ = dlopen(SIMGPU_NEWER "/615/libnvidia-ml.so.615.10.01", RTLD_NOW | RTLD_LOCAL);
        ASSERT_NE(library_, nullptr) << dlerror();
        ASSERT_EQ(call<nvmlReturn_t()>("nvmlInit_v2")(), NVML_SUCCESS);
        ASSERT_EQ(call<nvmlReturn_t(unsigned int, nvmlDevice_t*)>("nvmlDeviceGetHandleByIndex_v2")(0, &gpu_),
                  NVML_SUCCESS);
    }
    void TearDown() override {
        if (library_ != nullptr) call<nvmlReturn_t()>("nvmlShutdown")();
        std::filesystem::remove_all(parent_);
    }
    template <typename Function>
    Function* call(const char* name) {
        return reinterpret_cast<Function*>(dlsym(library_, name));
    }
    nvmlReturn_t get(const std::string& folder) {
        limits_ = {folder.c_str(), 0, 0, 0};
        return call<nvmlReturn_t(nvmlDevice_t, nvmlGetMemoryLimits_v1_t*)>("nvmlDeviceGetMemoryLimits_v1")(
            gpu_, &limits_);
    }
    nvmlReturn_t set(const std::string& folder, unsigned long long soft, unsigned long long hard) {
        nvmlSetMemoryLimits_v1_t limits{folder.c_str(), soft, hard};
        return call<nvmlReturn_t(nvmlDevice_t, nvmlSetMemoryLimits_v1_t*)>("nvmlDeviceSetMemoryLimits_v1")(
            gpu_, &limits);
    }

    TestDevice device_{1};
    std::string parent_;
    std::string child_;
    void* library_ = nullptr;
    nvmlDevice_t gpu_ = nullptr;
    nvmlGetMemoryLimits_v1_t limits_{};
};

TEST_F(CgroupLimits, AreKeptForACgroupAndToldToThoseBelowIt) {
    if (geteuid() != 0) GTEST_SKIP() << "only root may set limits";
    EXPECT_EQ(get(parent_), NVML_ERROR_NOT_SUPPORTED);
    ASSERT_EQ(set(parent_, 10 * kMiB, 20 * kMiB), NVML_SUCCESS);
    for (const std::string& folder : {parent_, child_}) {
        ASSERT_EQ(get(folder), NVML_SUCCESS);
        EXPECT_EQ(limits_.softLimit, 10 * kMiB);
        EXPECT_EQ(limits_.hardLimit, 20 * kMiB);
        EXPECT_EQ(limits_.currentUsed, 0U);
    }
    ASSERT_EQ(set(child_, 0, 5 * kMiB), NVML_SUCCESS);
    ASSERT_EQ(get(child_), NVML_SUCCESS);
    EXPECT_EQ(limits_.hardLimit, 5 * kMiB);
    ASSERT_EQ(set(parent_, 0, ~0ULL), NVML_SUCCESS);
    EXPECT_EQ(get(parent_), NVML_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(get(child_), NVML_SUCCESS);
}

TEST_F(CgroupLimits, RefusesWhatItCannotKeep) {
    EXPECT_EQ(get(parent_ + "/absent"), NVML_ERROR_NOT_FOUND);
    EXPECT_EQ(call<nvmlReturn_t(nvmlDevice_t, void*)>("nvmlDeviceGetMemoryLimits_v1")(gpu_, nullptr),
              NVML_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(set(parent_, 2, 1), geteuid() == 0 ? NVML_ERROR_INVALID_ARGUMENT : NVML_ERROR_NO_PERMISSION);
    device_.device().set_mode(0, GpuMode::mig);
    EXPECT_EQ(get(parent_), NVML_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(set(parent_, 0, 1), NVML_ERROR_NOT_SUPPORTED);
}

TEST_F(CgroupLimits, OlderDriversHaveNone) {
    void* older = dlopen(SIMGPU_OLDER "/550/libnvidia-ml.so.550.163.01", RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(older, nullptr) << dlerror();
    EXPECT_EQ(dlsym(older, "nvmlDeviceGetMemoryLimits_v1"), nullptr);
    EXPECT_EQ(dlsym(older, "nvmlDeviceSetMemoryLimits_v1"), nullptr);
}

}  // namespace
}  // namespace simgpu::test
