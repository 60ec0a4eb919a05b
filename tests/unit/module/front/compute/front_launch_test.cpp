#include <signal.h>

#include <bit>

#include "tests/unit/module/front/support/front_fixture.hpp"

namespace {

/// On a node with one GPU, launches under a free gate needn't be checked for their context.
class FrontOfDevices : public Front, public testing::WithParamInterface<int> {
  protected:
    void SetUp() override {
        Front::SetUp();
        if (!HasFatalFailure() && !IsSkipped()) behind<void(int)>("fake_set_devices")(GetParam());
    }
};

INSTANTIATE_TEST_SUITE_P(Devices, FrontOfDevices, testing::Values(1, 2),
                         [](const auto& test) { return std::to_string(test.param); });

TEST_P(FrontOfDevices, EveryArgumentOfALaunchArrives) {
    start();
    using Launch = int(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*,
                       void**, void**);
    for (const auto state : {kOpen, kFree}) {
        daemon().gate = state;
        // Long enough for the gate to be seen, and for runs of launches.
        const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
        for (std::uint64_t i = 0; std::chrono::steady_clock::now() < end; ++i) {
            std::array<std::uint64_t, 11> sent{};
            for (std::uint64_t k = 0; k < sent.size(); ++k) sent[k] = 1000 * i + k + 7;
            sent[0] = 7 + i % 2;
            sent[8] = 9 + i / 8 % 2;  // the stream
            const auto size = [&](std::size_t k) { return static_cast<unsigned>(sent[k]); };
            // A value in a pointer's register, which is never dereferenced.
            const auto list = [&](std::size_t k) { return std::bit_cast<void**>(sent[k]); };
            ASSERT_EQ(call<Launch>("cuLaunchKernel")(list(0), size(1), size(2), size(3), size(4), size(5),
                                                     size(6), size(7), list(8), list(9), list(10)),
                      0);
            const auto* got = behind<const std::uint64_t*()>("fake_last_launch")();
            for (std::size_t k = 0; k < sent.size(); ++k) ASSERT_EQ(got[k], sent[k]) << k;
        }
    }
}

// The first launch of a function in a context takes memory that must be reported to the daemon.
TEST_P(FrontOfDevices, ANewContextEndsWhatPassesFreely) {
    daemon().gate = kFree;
    start();
    for (int i = 0; i < 20; ++i) ASSERT_EQ(launch(), 0);
    EXPECT_TRUE(eventually([&] { return daemon().moved_told == 1; }));
    void* second = nullptr;
    ASSERT_EQ((call<int(void**, unsigned, int)>("cuCtxCreate_v2")(&second, 0, 0)), 0);
    ASSERT_EQ(launch(), 0);
    EXPECT_TRUE(eventually([&] { return daemon().moved_told == 2; }));
}

TEST_P(FrontOfDevices, AFreeGateLetsEverythingThrough) {
    daemon().gate = kFree;
    start();
    for (int i = 0; i < 1000; ++i) ASSERT_EQ(launch(), 0);
    EXPECT_EQ(launches(), 1000);
}

// Launches that pass a free gate aren't asked about one by one, whichever functions they launch.
TEST_P(FrontOfDevices, AFreeGateThatClosesHoldsEveryFunction) {
    daemon().gate = kFree;
    start();
    std::atomic<bool> stop{false};
    std::atomic<int> returned{0};
    std::thread program([&] {
        call<int(void*)>("cuCtxSetCurrent")(context_);
        for (std::size_t i = 0; !stop; ++i, ++returned) EXPECT_EQ(launch(nullptr, i % 2), 0);
    });
    EXPECT_TRUE(eventually([&] { return launches() > 1000; }));
    daemon().gate = kClosed;
    EXPECT_TRUE(eventually([&] { return daemon().rings > 0; }));
    const auto passed = launches();
    EXPECT_EQ(passed, returned);
    daemon().gate = kOpen;
    EXPECT_TRUE(eventually([&] { return launches() > passed; }));
    stop = true;
    program.join();
}

// A grant in advance must not hide from a raised limit the launch that takes its memory.
TEST_P(FrontOfDevices, ALargerLimitIsTakenByTheNextLaunch) {
    daemon().gate = kFree;
    start();
    ASSERT_TRUE(eventually([&] { return daemon().contexts_done == 1; }));
    std::size_t heap = 0;
    for (const auto state : {kFree, kOpen}) {
        daemon().gate = state;
        for (std::size_t i = 0; i < 20; ++i) ASSERT_EQ(launch(nullptr, i % 2), 0);
        for (int i = 0; i < 20; ++i) ASSERT_EQ(launch(), 0);
        const std::uint32_t done = daemon().contexts_done;
        ASSERT_EQ(call<int(int, std::size_t)>("cuCtxSetLimit")(cgpu::front::kLimitMallocHeapSize,
                                                               heap += 16 * kMiB),
                  0);
        EXPECT_EQ(daemon().contexts_done, done);
        ASSERT_EQ(launch(), 0);
        EXPECT_TRUE(eventually([&] { return daemon().contexts_done == done + 1; })) << state;
    }
}

TEST_F(Front, ALaunchOnMoreDevicesThanThereAreIsTheDriversToRefuse) {
    start();
    cgpu::front::CUlaunchParams list[2]{};
    const auto launch_on_all = call<int(const cgpu::front::CUlaunchParams*, unsigned, unsigned)>(
        "cuLaunchCooperativeKernelMultiDevice");
    EXPECT_EQ(launch_on_all(list, 2, 0), 0);
    EXPECT_EQ(launch_on_all(list, 0, 0), 1);
    EXPECT_EQ(launch_on_all(list, 3, 0), 1) << "there are two entries";
    EXPECT_EQ(launch_on_all(list, ~0U, 0), 1);
    EXPECT_EQ(launch_on_all(nullptr, ~0U, 0), 1);
}

TEST_F(Front, AClosedGateHoldsLaunchesUntilItOpens) {
    daemon().gate = kClosed;
    start();
    std::thread program([&] {
        call<int(void*)>("cuCtxSetCurrent")(context_);
        for (int i = 0; i < 100; ++i) EXPECT_EQ(launch(), 0);
    });
    EXPECT_TRUE(eventually([&] { return daemon().rings > 0; }));  // it says that it wants
    EXPECT_EQ(launches(), 0);
    daemon().gate = kOpen;
    program.join();
    EXPECT_EQ(launches(), 100);
}

TEST_F(Front, GpuTimeIsMeasured) {
    daemon().gate = kOpen;
    start();
    behind<void(std::int64_t)>("fake_set_kernel_ns")(200'000);
    int streams[2];
    const auto began = begin_measuring();
    for (int i = 0; i < 500; ++i) ASSERT_EQ(launch(&streams[i % 2]), 0);
    ASSERT_EQ(call<int()>("cuCtxSynchronize")(), 0);
    // 500 kernels of 200 µs, one after the other.
    expect_used(95'000'000, 130'000'000, began);
}

TEST_F(Front, ABatchWithoutASyncIsMeasuredToo) {
    daemon().gate = kOpen;
    start();
    behind<void(std::int64_t)>("fake_set_kernel_ns")(3'000'000);
    ASSERT_EQ(launch(), 0);
    EXPECT_TRUE(eventually([&] { return daemon().used_ns >= 2'900'000; })) << daemon().used_ns;
}

TEST_F(Front, LaunchesGoOnWhenTheDaemonIsGone) {
    daemon().gate = kOpen;
    start();
    ASSERT_EQ(launch(), 0);
    take_daemon_down();
    for (int i = 0; i < 5000; ++i) ASSERT_EQ(launch(), 0);
    EXPECT_EQ(launches(), 5001);
}

TEST_F(Front, AClosedGateRunsOutWhenTheDaemonIsStopped) {
    daemon().gate = kClosed;
    daemon().hold_ns = 300'000'000;
    start();
    ASSERT_EQ(kill(daemon_pid(), SIGSTOP), 0);
    EXPECT_EQ(launch(), 0);
    EXPECT_EQ(launches(), 1);
    ASSERT_EQ(kill(daemon_pid(), SIGCONT), 0);
}

TEST_F(Front, ThreadsOwnDefaultStreamsAreMeasuredEach) {
    daemon().gate = kOpen;
    start();
    behind<void(std::int64_t)>("fake_set_kernel_ns")(100'000);
    const auto began = begin_measuring();
    std::vector<std::thread> threads;
    threads.reserve(3);
    for (int i = 0; i < 3; ++i) {
        threads.emplace_back([&] {
            call<int(void*)>("cuCtxSetCurrent")(context_);
            for (int k = 0; k < 100; ++k) EXPECT_EQ(launch(cgpu::front::stream_per_thread()), 0);
        });
    }
    for (auto& thread : threads) thread.join();
    // 300 kernels of 100 µs. Only the threads could have recorded their streams' events, and they have ended:
    // what was open then is estimated. Without one of the three it would be 20 ms.
    expect_used(24'000'000, 60'000'000, began);
}

TEST_F(Front, LaunchesIntoACaptureAreNotHeld) {
    daemon().gate = kClosed;
    start();
    int stream = 0;
    ASSERT_EQ((call<int(void*, int)>("cuStreamBeginCapture_v2")(&stream, 0)), 0);
    for (int i = 0; i < 10; ++i) ASSERT_EQ(launch(&stream), 0);
    EXPECT_EQ(launches(), 10);
    void* graph = nullptr;
    ASSERT_EQ((call<int(void*, void**)>("cuStreamEndCapture")(&stream, &graph)), 0);
    EXPECT_EQ(daemon().rings, 0u);
}

TEST_F(Front, LaunchesIntoARecaptureAreNotHeld) {
    daemon().gate = kClosed;
    start();
    int stream = 0;
    ASSERT_EQ((call<int(void*, int, void*, void*, void*)>("cuStreamBeginRecaptureToGraph")(
                  &stream, 0, nullptr, nullptr, nullptr)),
              0);
    for (int i = 0; i < 10; ++i) ASSERT_EQ(launch(&stream), 0);
    EXPECT_EQ(launches(), 10);
    EXPECT_EQ(daemon().rings, 0u);
}

TEST_F(Front, TheTimeOfAHostFunctionIsNoGpuTime) {
    daemon().gate = kOpen;
    start();
    behind<void(std::int64_t)>("fake_set_kernel_ns")(200'000);
    const auto function = call<int(void*, void (*)(void*), void*, unsigned)>("cuLaunchHostFunc_v2");
    int stream = 0;
    // Once the length of the kernel is known, launches share a batch.
    for (int i = 0; i < 3; ++i) {
        ASSERT_EQ(launch(&stream), 0);
        ASSERT_EQ(call<int()>("cuCtxSynchronize")(), 0);
    }
    const auto began = begin_measuring();
    for (int i = 0; i < 2; ++i) ASSERT_EQ(launch(&stream), 0);
    ASSERT_EQ(function(&stream, nullptr, nullptr, 0), 0);
    for (int i = 0; i < 100; ++i) ASSERT_EQ(launch(&stream), 0);
    ASSERT_EQ(call<int()>("cuCtxSynchronize")(), 0);
    expect_used(19'500'000, 70'000'000, began);
}

TEST_F(Front, AnIdleProcessUsesNoProcessor) {
    daemon().gate = kOpen;
    start();
    ASSERT_EQ(launch(), 0);
    EXPECT_TRUE(eventually([&] { return daemon().used_ns >= 0 && daemon().contexts_done == 1; }));
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    const auto processor = [] {
        timespec used{};
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
        return used.tv_sec * 1'000'000'000ll + used.tv_nsec;
    };
    const auto before = processor();
    std::this_thread::sleep_for(std::chrono::seconds(2));
    EXPECT_LT(processor() - before, 10'000'000);  // half a per cent; it is some 50 µs
}

TEST_F(Front, LookUpsGiveTheHooks) {
    start();
    const auto look_up = call<int(const char*, void**, int, std::uint64_t, int*)>("cuGetProcAddress_v2");
    void* function = nullptr;
    int status = -1;
    ASSERT_EQ(look_up("cuMemAlloc", &function, 12000, 0, &status), 0);
    EXPECT_EQ(function, dlsym(front_, "cuMemAlloc_v2"));
    EXPECT_NE(function, dlsym(driver_, "cuMemAlloc_v2"));
    EXPECT_EQ(status, 0);
    ASSERT_EQ(look_up("cuGetProcAddress", &function, 12000, 0, &status), 0);
    EXPECT_EQ(function, dlsym(front_, "cuGetProcAddress_v2"));
    ASSERT_EQ(look_up("cuDriverGetVersion", &function, 12000, 0, &status), 0);
    EXPECT_EQ(function, dlsym(driver_, "cuDriverGetVersion"));  // not hooked: the driver's own
    EXPECT_EQ(look_up("cuMemFree", &function, 12000, 0, &status), 0);
    EXPECT_EQ(function, nullptr);  // what the driver hasn't got stays unfound
    EXPECT_EQ(status, 1);
    int version = 0;  // falls through by the front's needing the real file
    ASSERT_EQ(call<int(int*)>("cuDriverGetVersion")(&version), 0);
    EXPECT_EQ(version, 13000);
}

TEST_F(Front, AFormThatTheFrontDoesNotKnowIsNotFound) {
    start();
    void* function = nullptr;
    int status = -1;
    const auto look_up = call<int(const char*, void**, int, std::uint64_t, int*)>("cuGetProcAddress_v2");
    EXPECT_EQ(look_up("cuMemAlloc", &function, 20000, 0, &status), 0);
    EXPECT_EQ(function, nullptr);
    EXPECT_EQ(status, 1);
    EXPECT_EQ(look_up("cuMemAlloc", &function, 20000, 0, nullptr), 0);
    EXPECT_EQ(function, nullptr);
    const auto old_look_up = call<int(const char*, void**, int, std::uint64_t)>("cuGetProcAddress");
    void* untouched = &function;
    EXPECT_EQ(old_look_up("cuMemAlloc", &untouched, 20000, 0), 500);
    EXPECT_EQ(untouched, &function);
    EXPECT_EQ(old_look_up("cuMemAlloc", &untouched, 12000, 0), 0);
    EXPECT_EQ(untouched, dlsym(front_, "cuMemAlloc_v2"));
    EXPECT_EQ(old_look_up("cuGetProcAddress", &untouched, 11030, 0), 0);
    EXPECT_EQ(untouched, dlsym(front_, "cuGetProcAddress"));
}

}  // namespace
