#include "module/generate/hook_table.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#define HOOK(name) \
    extern "C" void name() {}
HOOK(cuMemAlloc_v2)
HOOK(cuMemGetInfo)
HOOK(cuGetProcAddress)
HOOK(cuGetProcAddress_v2)
HOOK(cuLaunchKernel)
HOOK(cuLaunchKernel_ptsz)
#undef HOOK

namespace cgpu::module::test {
namespace {

const void* hook(Hook each) { return reinterpret_cast<const void*>(each); }

/// The exports of a driver: a number for each, which serves as its address.
std::map<std::string, char*> exports;

void* address_of(const char* symbol) {
    const auto found = exports.find(symbol);
    return found != exports.end() ? found->second : nullptr;
}

class Hooks : public ::testing::Test {
  protected:
    void driver(const std::vector<std::string>& symbols) {
        exports.clear();
        // In another order than the table's.
        for (auto symbol = symbols.rbegin(); symbol != symbols.rend(); ++symbol)
            exports[*symbol] = code_.data() + exports.size();
    }
    const void* answer(const char* name, const char* symbol) {
        return hooks_.answer(name, address_of(symbol), &address_of);
    }
    /// The address of something that no driver exports.
    [[nodiscard]] const void* unknown() const { return code_.data() + 500; }

    HooksByAddress hooks_{&hook_table};
    std::vector<char> code_ = std::vector<char>(1000);
};

TEST_F(Hooks, BelongToTheFunctionThatTheDriverAnswered) {
    driver({"cuMemAlloc", "cuMemAlloc_v2", "cuMemGetInfo", "cuMemGetInfo_v2", "cuGetProcAddress",
            "cuGetProcAddress_v2", "cuLaunchKernel", "cuLaunchKernel_ptsz"});
    EXPECT_EQ(answer("cuMemAlloc", "cuMemAlloc_v2"), hook(cuMemAlloc_v2));
    EXPECT_EQ(answer("cuMemGetInfo", "cuMemGetInfo"), hook(cuMemGetInfo));
    EXPECT_EQ(answer("cuGetProcAddress", "cuGetProcAddress"), hook(cuGetProcAddress));
    EXPECT_EQ(answer("cuGetProcAddress", "cuGetProcAddress_v2"), hook(cuGetProcAddress_v2));
    EXPECT_EQ(answer("cuLaunchKernel", "cuLaunchKernel"), hook(cuLaunchKernel));
    EXPECT_EQ(answer("cuLaunchKernel", "cuLaunchKernel_ptsz"), hook(cuLaunchKernel_ptsz));
    EXPECT_EQ(answer("whatever its name", "cuMemAlloc_v2"), hook(cuMemAlloc_v2));
}

TEST_F(Hooks, OtherFormsAndOtherFunctionsAreTheDriversOwn) {
    driver({"cuMemAlloc", "cuMemAlloc_v2", "cuMemGetInfo", "cuMemGetInfo_v2", "cuDriverGetVersion"});
    EXPECT_EQ(answer("cuMemAlloc", "cuMemAlloc"), address_of("cuMemAlloc"));
    EXPECT_EQ(answer("cuMemGetInfo", "cuMemGetInfo_v2"), address_of("cuMemGetInfo_v2"));
    EXPECT_EQ(answer("cuDriverGetVersion", "cuDriverGetVersion"), address_of("cuDriverGetVersion"));
    EXPECT_EQ(hooks_.answer("cuFunctionOfTomorrow", unknown(), &address_of), unknown());
}

TEST_F(Hooks, AnUnknownFormOfAHookedFunctionIsRefused) {
    driver({"cuMemAlloc", "cuMemAlloc_v2", "cuMemAlloc_v3", "cuLaunchKernel"});
    EXPECT_EQ(answer("cuMemAlloc", "cuMemAlloc_v3"), nullptr);
    EXPECT_EQ(hooks_.answer("cuLaunchKernel", unknown(), &address_of), nullptr);
    EXPECT_EQ(hooks_.answer("cuMemAllo", unknown(), &address_of), unknown());
    EXPECT_EQ(hooks_.answer("cuMemAllocX", unknown(), &address_of), unknown());
    EXPECT_EQ(hooks_.answer("", unknown(), &address_of), unknown());
    EXPECT_EQ(hooks_.answer("zz", unknown(), &address_of), unknown());
}

TEST_F(Hooks, AnOldDriverHasOnlyItsOwn) {
    driver({"cuMemAlloc_v2", "cuGetProcAddress"});
    EXPECT_EQ(answer("cuGetProcAddress", "cuGetProcAddress"), hook(cuGetProcAddress));
    EXPECT_EQ(answer("cuMemAlloc", "cuMemAlloc_v2"), hook(cuMemAlloc_v2));
}

TEST_F(Hooks, AreFoundByManyThreadsAtOnce) {
    driver({"cuMemAlloc", "cuMemAlloc_v2", "cuMemGetInfo", "cuLaunchKernel", "cuLaunchKernel_ptsz"});
    std::atomic<int> wrong{0};
    std::array<std::thread, 8> threads;
    for (auto& thread : threads)
        thread = std::thread([&] {
            for (const auto& [symbol, expected] :
                 {std::pair{"cuMemAlloc_v2", &cuMemAlloc_v2}, {"cuLaunchKernel_ptsz", &cuLaunchKernel_ptsz}})
                if (answer("cuMemAlloc", symbol) != hook(expected)) ++wrong;
        });
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace cgpu::module::test
