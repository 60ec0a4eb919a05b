// The fronts as they are shipped, mounted at their paths, over the simulated driver. front_mounted.sh makes
// the mounts and runs this. Claims about bytes and GPU time are judged by the simulator's ledger.
#include <chrono>
#include <cstdio>
#include <thread>

#include "tests/unit/module/front/support/front_fixture.hpp"

namespace {

class Mounted : public Front {
  protected:
    /// A figure of the first card in the simulator's ledger.
    static std::uint64_t ledger(const std::string& key) {
        std::string text;
        FILE* out = popen(CGPU_TEST_SIMGPU " ledger --json", "r");
        char chunk[4096];
        while (const auto got = std::fread(chunk, 1, sizeof chunk, out)) text.append(chunk, got);
        pclose(out);
        const auto at = text.find('"' + key + "\":");
        if (at == std::string::npos) {
            ADD_FAILURE() << key << " is not in the ledger: " << text;
            return 0;
        }
        return std::strtoull(text.c_str() + at + key.size() + 3, nullptr, 10);
    }
    static std::uint64_t used_bytes() { return ledger("used_bytes"); }
    static std::uint64_t busy_ns() { return ledger("busy_ns"); }

    void load_busy_kernel() {
        // The simulator accepts any image; it knows its kernels by their names.
        const char* image =
            ".version 8.0\n.target sm_70\n.address_size 64\n.visible .entry busy(.param .u64 ns) { ret; }\n";
        ASSERT_EQ((call<int(void**, const void*)>("cuModuleLoadData")(&module_, image)), 0);
        ASSERT_EQ((call<int(void**, void*, const char*)>("cuModuleGetFunction")(&kernel_, module_, "busy")),
                  0);
    }
    int busy(std::uint64_t microseconds) const {
        void* parameters[] = {&microseconds};
        using Launch = int(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*,
                           void**, void**);
        return call<Launch>("cuLaunchKernel")(kernel_, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr);
    }

    void* module_ = nullptr;
    void* kernel_ = nullptr;
};

TEST_F(Mounted, TheLimitHoldsToTheByte) {
    daemon().limit_bytes = kContextEstimate + 100 * kMiB;
    start();
    const auto before = used_bytes();
    std::uint64_t address = 0;
    EXPECT_EQ(allocate(100 * kMiB + 1, &address), kOutOfMemory);
    EXPECT_EQ(used_bytes(), before);
    ASSERT_EQ(allocate(100 * kMiB, &address), 0);
    EXPECT_EQ(used_bytes(), before + 100 * kMiB);
    std::uint64_t more = 0;
    EXPECT_EQ(allocate(1, &more), kOutOfMemory);
    EXPECT_EQ(free(address), 0);
    EXPECT_EQ(used_bytes(), before);
}

TEST_F(Mounted, ArraysAreChargedForAtLeastWhatTheyTake) {
    start();
    const auto create = call<int(void**, const cgpu::front::Array3DDescriptor*)>("cuArray3DCreate_v2");
    const cgpu::front::Array3DDescriptor shapes[] = {{1000, 0, 0, 0x20, 4, 0},
                                                     {1000, 1000, 0, 0x20, 4, 0},
                                                     {100, 100, 100, 0x08, 2, 0},
                                                     {4096, 4096, 0, 0x10, 1, 0}};
    const auto before = used_bytes();
    for (const auto& shape : shapes) {
        void* array = nullptr;
        ASSERT_EQ(create(&array, &shape), 0);
    }
    EXPECT_TRUE(eventually([&] { return daemon().charged_bytes >= used_bytes() - before; }))
        << daemon().charged_bytes << " charged of " << used_bytes() - before;
}

TEST_F(Mounted, GpuTimeIsWhatTheGpuGave) {
    daemon().gate = 1;
    start();
    load_busy_kernel();
    for (int i = 0; i < 400; ++i) ASSERT_EQ(busy(500), 0);
    ASSERT_EQ(call<int()>("cuCtxSynchronize")(), 0);
    const auto given_ns = static_cast<double>(busy_ns());
    EXPECT_GE(given_ns, 200e6);
    EXPECT_TRUE(eventually([&] { return static_cast<double>(daemon().used_ns) >= 0.97 * given_ns; }))
        << daemon().used_ns << " measured of " << given_ns;
    EXPECT_LE(static_cast<double>(daemon().used_ns), 1.05 * given_ns);
}

TEST_F(Mounted, AClosedGateHoldsLaunches) {
    daemon().gate = 0;
    start();
    load_busy_kernel();
    std::thread program([&] {
        call<int(void*)>("cuCtxSetCurrent")(context_);
        for (int i = 0; i < 50; ++i) EXPECT_EQ(busy(10), 0);
    });
    EXPECT_TRUE(eventually([&] { return daemon().rings > 0; }));
    EXPECT_EQ(busy_ns(), 0u);
    daemon().gate = 1;
    program.join();
    ASSERT_EQ(call<int()>("cuCtxSynchronize")(), 0);
    EXPECT_GT(busy_ns(), 0u);
}

TEST_F(Mounted, WhatHasNoHookIsTheDrivers) {
    int version = 0;
    EXPECT_EQ(call<int(int*)>("cuDriverGetVersion")(&version), 0);
    int expected = 0;
    reinterpret_cast<int (*)(int*)>(dlsym(driver_, "cuDriverGetVersion"))(&expected);
    EXPECT_EQ(version, expected);
    EXPECT_EQ(daemon().driver_asked, 1U);
    const char* text = nullptr;
    EXPECT_EQ((call<int(int, const char**)>("cuGetErrorName")(2, &text)), 0);
    EXPECT_STREQ(text, "CUDA_ERROR_OUT_OF_MEMORY");
    EXPECT_EQ(daemon().driver_asked, 1U) << "it is loaded once";
    EXPECT_EQ(dlsym(front_, "cuFunctionThatNoDriverHas"), nullptr);
}

TEST_F(Mounted, ADaemonThatIsStartedAnewIsWaitedForByTheFirstCall) {
    take_daemon_down();
    std::thread later([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        daemon().down = 0;
    });
    int version = 0;
    EXPECT_EQ(call<int(int*)>("cuDriverGetVersion")(&version), 0);
    EXPECT_GT(version, 0);
    later.join();
}

TEST_F(Mounted, WithoutADaemonTheDriverIsNotReady) {
    mute_daemon();
    constexpr int kSystemNotReady = 802;
    int version = 0;
    EXPECT_EQ(call<int(int*)>("cuDriverGetVersion")(&version), kSystemNotReady);
    // After a failed wait there is no second one.
    const auto before = std::chrono::steady_clock::now();
    for (int i = 0; i < 100; ++i) EXPECT_EQ(call<int(unsigned)>("cuInit")(0), kSystemNotReady);
    EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(5));
    daemon().mute = 0;
    EXPECT_TRUE(eventually([&] { return call<int(int*)>("cuDriverGetVersion")(&version) == 0; }));
}

TEST_F(Mounted, EveryLookUpThatHasAHookGivesIt) {
    start();
    const auto look_up = call<int(const char*, void**, int, std::uint64_t, int*)>("cuGetProcAddress_v2");
    int status = 0;
    void* found = nullptr;
    for (const auto& [name, flags, symbol] : {std::tuple{"cuMemAlloc", 0, "cuMemAlloc_v2"},
                                              {"cuLaunchKernel", 0, "cuLaunchKernel"},
                                              {"cuLaunchKernel", 2, "cuLaunchKernel_ptsz"},
                                              {"cuCtxCreate", 0, "cuCtxCreate_v4"},
                                              {"cuStreamSynchronize", 2, "cuStreamSynchronize_ptsz"},
                                              {"cuGetProcAddress", 0, "cuGetProcAddress_v2"}}) {
        ASSERT_EQ(look_up(name, &found, 13000, static_cast<std::uint64_t>(flags), &status), 0) << name;
        EXPECT_EQ(found, dlsym(front_, symbol)) << symbol;
        EXPECT_NE(found, dlsym(driver_, symbol)) << symbol;
    }
}

}  // namespace
