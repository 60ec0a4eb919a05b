#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <utility>

#include "tests/sim/test/support/support.hpp"

namespace simgpu::test {
namespace {

/// What cuGetProcAddress gives for a name, version and flags: the exported symbol at that address.
std::string found(const char* name, int version, cuuint64_t flags) {
    void* function = nullptr;
    CUdriverProcAddressQueryResult status{};
    if (cuGetProcAddress(name, &function, version, flags, &status) != CUDA_SUCCESS) return "error";
    if (!function)
        return status == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND ? "not found" : "version not sufficient";
    Dl_info info{};
    dladdr(function, &info);
    return info.dli_sname ? info.dli_sname : "no symbol";
}

TEST(ProcAddress, GivesTheFormOfTheVersionAskedFor) {
    EXPECT_EQ(found("cuMemAlloc", 2000, 0), "cuMemAlloc");
    EXPECT_EQ(found("cuMemAlloc", 3020, 0), "cuMemAlloc_v2");
    EXPECT_EQ(found("cuMemAlloc", 13000, 2), "cuMemAlloc_v2");
    EXPECT_EQ(found("cuCtxCreate", 3020, 0), "cuCtxCreate_v2");
    EXPECT_EQ(found("cuCtxCreate", 12000, 0), "cuCtxCreate_v3");
    EXPECT_EQ(found("cuCtxCreate", 13000, 0), "cuCtxCreate_v4");
    EXPECT_EQ(found("cuStreamGetCaptureInfo", 11020, 0), "cuStreamGetCaptureInfo");
    EXPECT_EQ(found("cuStreamGetCaptureInfo", 12030, 0), "cuStreamGetCaptureInfo_v3");
    EXPECT_EQ(found("cuGetProcAddress", 11030, 0), "cuGetProcAddress");
    EXPECT_EQ(found("cuGetProcAddress", 12000, 0), "cuGetProcAddress_v2");
}

TEST(ProcAddress, GivesThePerThreadFormsWhereAskedFor) {
    EXPECT_EQ(found("cuLaunchKernel", 7000, 2), "cuLaunchKernel_ptsz");
    EXPECT_EQ(found("cuLaunchKernel", 7000, 1), "cuLaunchKernel");
    EXPECT_EQ(found("cuLaunchKernel", 6050, 2), "version not sufficient");
    EXPECT_EQ(found("cuLaunchKernel", 7000, 3), "cuLaunchKernel_ptsz");
    EXPECT_EQ(found("cuMemAlloc", 6050, 2), "cuMemAlloc_v2");  // has no such form
    EXPECT_EQ(found("cuMemcpyHtoD", 13000, 2), "cuMemcpyHtoD_v2_ptds");
    EXPECT_EQ(found("cuStreamGetCaptureInfo", 11030, 2), "cuStreamGetCaptureInfo_v2_ptsz");
}

TEST(ProcAddress, TellsWhatItDoesNotHave) {
    EXPECT_EQ(found("cuNoSuchThing", 13000, 0), "not found");
    EXPECT_EQ(found("cuMemAlloc_v2", 13000, 0), "not found");
    EXPECT_EQ(found("cuGraphLaunch", 9000, 0), "version not sufficient");
    EXPECT_EQ(found("cuMemAlloc", 14000, 0), "cuMemAlloc_v2");
    EXPECT_EQ(found("cuMemAlloc", -1, 0), "cuMemAlloc_v2");
    EXPECT_EQ(found("cuMemAlloc", 13000, 4), "error");
    using Old = CUresult (*)(const char*, void**, int, cuuint64_t);
    void* old = nullptr;
    ASSERT_EQ(cuGetProcAddress("cuGetProcAddress", &old, 11030, 0, nullptr), CUDA_SUCCESS);
    void* function = &function;
    EXPECT_EQ(reinterpret_cast<Old>(old)("cuNoSuchThing", &function, 11030, 0), CUDA_ERROR_NOT_FOUND);
    EXPECT_EQ(function, &function) << "the older form leaves the pointer alone";
}

TEST(ProcAddress, WhatIsNotSimulatedSaysSo) {
    void* function = nullptr;
    ASSERT_EQ(cuGetProcAddress("cuGraphDebugDotPrint", &function, 13000, 0, nullptr), CUDA_SUCCESS);
    ASSERT_NE(function, nullptr);
    EXPECT_EQ(reinterpret_cast<CUresult (*)(CUgraph, const char*, unsigned int)>(function)(nullptr, "", 0),
              CUDA_ERROR_NOT_SUPPORTED);
}

TEST(Errors, HaveTheTextsOfNvidiasDriver) {
    for (const auto& [code, text] : {std::pair{CUDA_ERROR_OUT_OF_MEMORY, "out of memory"},
                                     {CUDA_ERROR_NOT_SUPPORTED, "operation not supported"},
                                     {CUDA_ERROR_NO_DEVICE, "no CUDA-capable device is detected"},
                                     {CUDA_ERROR_NOT_FOUND, "named symbol not found"}}) {
        const char* found = nullptr;
        ASSERT_EQ(cuGetErrorString(code, &found), CUDA_SUCCESS);
        EXPECT_STREQ(found, text);
    }
}

TEST(Devices, VisibleOnesAreThoseNamedInTheirOrder) {
    TestDevice device(3);
    Child child([](const Child::Line&) {
        setenv("CUDA_VISIBLE_DEVICES", "2,GPU-01", 1);
        use_device(1);
        int count = 0;
        REQUIRE_OK(cuDeviceGetCount(&count));
        REQUIRE_EQ(count, 2);
        char name[32];
        REQUIRE_OK(cuDeviceGetName(name, sizeof name, 0));
        REQUIRE_EQ(std::string(name) == "Test GPU 2", true);
        REQUIRE_OK(cuDeviceGetName(name, sizeof name, 1));
        REQUIRE_EQ(std::string(name) == "Test GPU 0", true);
        REQUIRE_EQ(cuDeviceGetName(name, sizeof name, 2), CUDA_ERROR_INVALID_DEVICE);
    });
    EXPECT_EQ(child.wait(), 0);
    Child none([](const Child::Line&) {
        setenv("CUDA_VISIBLE_DEVICES", "", 1);
        REQUIRE_EQ(cuInit(0), CUDA_ERROR_NO_DEVICE);
        setenv("SIMGPU_DEVICE", "/nowhere", 1);
        unsetenv("CUDA_VISIBLE_DEVICES");
        REQUIRE_EQ(cuInit(0), CUDA_ERROR_NO_DEVICE);
    });
    EXPECT_EQ(none.wait(), 0);
}

}  // namespace
}  // namespace simgpu::test
