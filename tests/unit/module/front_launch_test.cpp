#include <signal.h>

#include "tests/unit/module/front_fixture.hpp"

namespace {

constexpr std::uint32_t kClosed = 0;
constexpr std::uint32_t kOpen = 1;
constexpr std::uint32_t kFree = 2;

TEST_F(Front, AFreeGateLetsEverythingThrough) {
    daemon().gate = kFree;
    start();
    for (int i = 0; i < 1000; ++i) ASSERT_EQ(launch(), 0);
    EXPECT_EQ(launches(), 1000);
}

// What passes a free gate isn't asked about one by one, whichever functions it launches.
TEST_F(Front, AFreeGateThatClosesHoldsEveryFunction) {
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

// What is let through ahead must not hide from a larger limit the launch that takes its memory.
TEST_F(Front, ALargerLimitIsTakenByTheNextLaunch) {
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
    for (int i = 0; i < 500; ++i) ASSERT_EQ(launch(&streams[i % 2]), 0);
    ASSERT_EQ(call<int()>("cuCtxSynchronize")(), 0);
    // 500 kernels of 200 µs, one after the other.
    EXPECT_TRUE(eventually([&] { return daemon().used_ns >= 95'000'000; })) << daemon().used_ns;
    EXPECT_LT(daemon().used_ns, 130'000'000);
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
    std::vector<std::thread> threads;
    threads.reserve(3);
    for (int i = 0; i < 3; ++i) {
        threads.emplace_back([&] {
            call<int(void*)>("cuCtxSetCurrent")(context_);
            for (int k = 0; k < 100; ++k) EXPECT_EQ(launch(cgpu::front::stream_per_thread()), 0);
        });
    }
    for (auto& thread : threads) thread.join();
    // 300 kernels of 100 µs. Nobody but the threads could have recorded their streams' events, and they are
    // gone.
    EXPECT_TRUE(eventually([&] { return daemon().used_ns >= 28'000'000; })) << daemon().used_ns;
    EXPECT_LT(daemon().used_ns, 60'000'000);
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
    EXPECT_EQ(look_up("cuMemFree", &function, 12000, 0, &status), 500);
    EXPECT_EQ(function, nullptr);  // what the driver hasn't got stays unfound
    EXPECT_EQ(status, 1);
    int version = 0;  // falls through by the front's needing the real file
    ASSERT_EQ(call<int(int*)>("cuDriverGetVersion")(&version), 0);
    EXPECT_EQ(version, 13000);
}

}  // namespace
