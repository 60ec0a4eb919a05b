#include "module/generate/hook_table.hpp"

#include <gtest/gtest.h>

#define HOOK(name) \
    extern "C" void name() {}
HOOK(cuMemAlloc_v2)
HOOK(cuMemGetInfo)
HOOK(cuGetProcAddress)
HOOK(cuGetProcAddress_v2)
HOOK(cuLaunchKernel)
HOOK(cuLaunchKernel_ptsz)
HOOK(cuMemcpyHtoD_v2_ptds)
HOOK(cuStreamBeginCapture_v2)
HOOK(cuStreamBeginCapture_v2_ptsz)
#undef HOOK

namespace cgpu::module::test {
namespace {

constexpr std::uint64_t kDefault = 0;
constexpr std::uint64_t kLegacy = 1;
constexpr std::uint64_t kPerThread = 2;

const void* at(Hook hook) { return reinterpret_cast<const void*>(hook); }

TEST(HookTable, TheVersionSaysWhichOfTheSameName) {
    EXPECT_EQ(find_hook("cuMemAlloc", 3020, kDefault), at(cuMemAlloc_v2));
    EXPECT_EQ(find_hook("cuMemAlloc", 12080, kLegacy), at(cuMemAlloc_v2));
    EXPECT_EQ(find_hook("cuMemAlloc", 3010, kDefault), nullptr);  // cuMemAlloc, which isn't hooked
    EXPECT_EQ(find_hook("cuMemGetInfo", 3010, kDefault), at(cuMemGetInfo));
    EXPECT_EQ(find_hook("cuMemGetInfo", 3020, kDefault), nullptr);
    EXPECT_EQ(find_hook("cuGetProcAddress", 11030, kDefault), at(cuGetProcAddress));
    EXPECT_EQ(find_hook("cuGetProcAddress", 12000, kDefault), at(cuGetProcAddress_v2));
    EXPECT_EQ(find_hook("cuGetProcAddress", 11020, kDefault), nullptr);
}

TEST(HookTable, TheFlagsSayWhichStreamIsTheDefault) {
    EXPECT_EQ(find_hook("cuLaunchKernel", 12000, kDefault), at(cuLaunchKernel));
    EXPECT_EQ(find_hook("cuLaunchKernel", 12000, kLegacy), at(cuLaunchKernel));
    EXPECT_EQ(find_hook("cuLaunchKernel", 12000, kPerThread), at(cuLaunchKernel_ptsz));
    EXPECT_EQ(find_hook("cuLaunchKernel", 6050, kPerThread),
              at(cuLaunchKernel));  // older than per-thread streams
    EXPECT_EQ(find_hook("cuMemcpyHtoD", 12000, kPerThread), at(cuMemcpyHtoD_v2_ptds));
    EXPECT_EQ(find_hook("cuMemcpyHtoD", 12000, kDefault), nullptr);
    EXPECT_EQ(find_hook("cuMemAlloc", 12000, kPerThread), at(cuMemAlloc_v2));  // has no such variant
    EXPECT_EQ(find_hook("cuStreamBeginCapture", 10000, kPerThread), nullptr);
    EXPECT_EQ(find_hook("cuStreamBeginCapture", 10010, kPerThread), at(cuStreamBeginCapture_v2_ptsz));
    EXPECT_EQ(find_hook("cuStreamBeginCapture", 10010, kDefault), at(cuStreamBeginCapture_v2));
}

TEST(HookTable, OtherNames) {
    EXPECT_EQ(find_hook("cuMemAlloc_v2", 12000, kDefault), at(cuMemAlloc_v2));
    EXPECT_EQ(find_hook("cuMemFree", 12000, kDefault), nullptr);
    EXPECT_EQ(find_hook("", 12000, kDefault), nullptr);
    EXPECT_EQ(find_hook("cuMemAllo", 12000, kDefault), nullptr);
    EXPECT_EQ(find_hook("cuMemAllocX", 12000, kDefault), nullptr);
    EXPECT_GE(hook_table().newest_version, 13000);
}

}  // namespace
}  // namespace cgpu::module::test
