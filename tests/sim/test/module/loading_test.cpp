// The libraries work beside others of the same name: they are loaded by path under another name, with
// RTLD_LOCAL, while the program is linked with one of the same SONAME.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "tests/sim/include/simgpu/nvml.h"
#include "tests/sim/test/support/support.hpp"

namespace simgpu::test {
namespace {

namespace fs = std::filesystem;

/// A copy of the library that `symbol` of this program comes from, under another name.
class Copy {
  public:
    explicit Copy(void* symbol)
        : path_(fs::temp_directory_path() / ("simgpu-copy-" + std::to_string(getpid()))) {
        Dl_info info{};
        dladdr(symbol, &info);
        fs::copy_file(info.dli_fname, path_, fs::copy_options::overwrite_existing);
    }
    ~Copy() { fs::remove(path_); }
    Copy(const Copy&) = delete;
    Copy& operator=(const Copy&) = delete;
    void* load() const { return dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL); }

  private:
    fs::path path_;
};

template <typename Function>
Function* symbol(void* library, const char* name) {
    return reinterpret_cast<Function*>(dlsym(library, name));
}

TEST(Loading, ADriverBesideAnotherOneUsesOnlyItself) {
    TestDevice device(1);
    const Copy copy(reinterpret_cast<void*>(&cuInit));
    Child child([&copy](const Child::Line&) {
        void* driver = copy.load();
        REQUIRE_EQ(driver != nullptr, true);
        REQUIRE_EQ(symbol<decltype(cuInit)>(driver, "cuInit") != &cuInit, true);
        REQUIRE_OK(symbol<decltype(cuInit)>(driver, "cuInit")(0));
        CUcontext context = nullptr;
        REQUIRE_OK(
            symbol<CUresult(CUcontext*, unsigned int, CUdevice)>(driver, "cuCtxCreate_v2")(&context, 0, 0));
        // These two call other exported functions; bound to the first library's they would find CUDA
        // uninitialised.
        REQUIRE_OK(symbol<CUresult(CUstream)>(driver, "cuStreamSynchronize_ptsz")(nullptr));
        REQUIRE_OK(symbol<CUresult(void**, std::size_t)>(driver, "cuMemAllocHost_v2")(
            reinterpret_cast<void**>(&context), 4096));
        void* function = nullptr;
        REQUIRE_OK(symbol<decltype(cuGetProcAddress)>(driver, "cuGetProcAddress_v2")(
            "cuLaunchKernel", &function, 13000, 2, nullptr));
        REQUIRE_EQ(function == dlsym(driver, "cuLaunchKernel_ptsz"), true);
        int count = 0;
        REQUIRE_EQ(cuDeviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED);
        REQUIRE_EQ(driver != nullptr && dlclose(driver) == 0, true);
    });
    EXPECT_EQ(child.wait(), 0);
}

TEST(Loading, AnNvmlBesideAnotherOneUsesOnlyItself) {
    TestDevice device(1);
    const Copy copy(reinterpret_cast<void*>(&nvmlInit_v2));
    void* nvml = copy.load();
    ASSERT_NE(nvml, nullptr);
    ASSERT_EQ(symbol<decltype(nvmlInit_v2)>(nvml, "nvmlInit_v2")(), NVML_SUCCESS);
    unsigned int count = 0;
    EXPECT_EQ(symbol<decltype(nvmlDeviceGetCount)>(nvml, "nvmlDeviceGetCount")(&count), NVML_SUCCESS);
    EXPECT_EQ(nvmlDeviceGetCount_v2(&count), NVML_ERROR_UNINITIALIZED);
    EXPECT_EQ(symbol<decltype(nvmlShutdown)>(nvml, "nvmlShutdown")(), NVML_SUCCESS);
}

}  // namespace
}  // namespace simgpu::test
