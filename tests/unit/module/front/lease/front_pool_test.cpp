#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "tests/unit/module/front/support/front_fixture.hpp"

namespace {

TEST_F(Front, PoolMemoryIsHeldUntilItsStreamGetsThere) {
    daemon().limit_bytes = kContextEstimate + 64 * kMiB;
    start();
    behind<void(std::int64_t)>("fake_set_kernel_ns")(300'000'000);
    int one = 0;
    int two = 0;
    const auto take = call<int(std::uint64_t*, std::size_t, void*)>("cuMemAllocAsync");
    std::uint64_t address = 0;
    free_behind_a_kernel(64 * kMiB, &one);
    EXPECT_TRUE(eventually([&] { return daemon().charged_bytes == 64 * kMiB; }));
    // The same stream may have it at once; another one gets it when the GPU has finished with it.
    ASSERT_EQ(take(&address, 64 * kMiB, &one), 0);
    ASSERT_EQ((call<int(std::uint64_t, void*)>("cuMemFreeAsync")(address, &one)), 0);
    EXPECT_EQ(take(&address, 64 * kMiB, &two), 0);
}

TEST_F(Front, ThreadsThatFillThePoolTogetherAreNotRefused) {
    daemon().limit_bytes = kContextEstimate + 96 * kMiB;
    start();
    std::atomic<int> refused{0};
    std::vector<std::thread> threads;
    threads.reserve(3);
    for (int i = 0; i < 3; ++i) {
        threads.emplace_back([&] {
            int stream = 0;
            call<int(void*)>("cuCtxSetCurrent")(context_);
            for (int round = 0; round < 200; ++round) {
                std::uint64_t address = 0;
                const auto take = call<int(std::uint64_t*, std::size_t, void*)>("cuMemAllocAsync");
                if (take(&address, 32 * kMiB, &stream) != 0) {
                    ++refused;
                    continue;
                }
                call<int(std::uint64_t, void*)>("cuMemFreeAsync")(address, &stream);
            }
        });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(refused, 0);
}

TEST_F(Front, AFreeThatIsDoneWhileTheDaemonRefusesIsNotMissed) {
    daemon().limit_bytes = kContextEstimate + 64 * kMiB;
    start();
    behind<void(std::int64_t)>("fake_set_kernel_ns")(1'000'000'000);
    int one = 0;
    int two = 0;
    const auto take = call<int(std::uint64_t*, std::size_t, void*)>("cuMemAllocAsync");
    std::uint64_t address = 0;
    free_behind_a_kernel(64 * kMiB, &one);
    // Asked first, asked again, and once more when the pools have released what they can: the answer to that
    // is held until the free is done.
    daemon().mute_after_refusals = daemon().refusals + 2;
    int taken = -1;
    std::thread thread([&] {
        call<int(void*)>("cuCtxSetCurrent")(context_);
        taken = take(&address, 64 * kMiB, &two);
    });
    EXPECT_TRUE(eventually([&] { return daemon().is_mute == 1; }));
    EXPECT_TRUE(eventually([&] { return daemon().charged_bytes == 0; }));
    daemon().mute = 0;
    thread.join();
    EXPECT_EQ(taken, 0);
}

// The module's thread must leave the driver alone when the driver ends: otherwise the driver would abort.
TEST_F(Front, AProcessMayEndBeforeItsFreesAreDone) {
    start();
    behind<void(std::int64_t)>("fake_set_kernel_ns")(10'000'000'000);
    int stream = 0;
    free_behind_a_kernel(kMiB, &stream);
}

TEST_F(Front, WhatTheDriverHasTakenBackFromAPoolIsFoundOutWhenItIsNeeded) {
    start();
    std::uint64_t address = 0;
    ASSERT_EQ(
        (call<int(std::uint64_t*, std::size_t, void*)>("cuMemAllocAsync")(&address, 64 * kMiB, nullptr)), 0);
    ASSERT_TRUE(eventually([&] { return daemon().charged_bytes == 64 * kMiB; }));
    ASSERT_EQ((behind<int(std::uint64_t, void*)>("cuMemFreeAsync")(address, nullptr)), 0);
    daemon().recall_bytes = 64 * kMiB;
    EXPECT_TRUE(eventually([&] { return daemon().leased_bytes == 0; }));
    EXPECT_EQ(daemon().charged_bytes, 0u);
}

TEST_F(Front, PoolMemoryEndsWithTheLastContext) {
    start();
    std::uint64_t address = 0;
    ASSERT_EQ(
        (call<int(std::uint64_t*, std::size_t, void*)>("cuMemAllocAsync")(&address, 64 * kMiB, nullptr)), 0);
    EXPECT_TRUE(eventually([&] { return daemon().charged_bytes == 64 * kMiB; }));
    ASSERT_EQ(call<int(void*)>("cuCtxDestroy_v2")(context_), 0);
    EXPECT_TRUE(eventually([&] { return daemon().charged_bytes == 0; }));
}

TEST_F(Front, ADestroyedPoolIsNotAskedAnyMore) {
    start();
    behind<void(int)>("fake_set_asking_us")(200);
    cgpu::front::CUmemPoolProps what{};
    what.allocation_type = 1;
    what.location = {1, 0};
    int stream = 0;
    for (int round = 0; round < 100; ++round) {
        void* pool = nullptr;
        std::uint64_t address = 0;
        ASSERT_EQ((call<int(void**, const void*)>("cuMemPoolCreate")(&pool, &what)), 0);
        const auto take = call<int(std::uint64_t*, std::size_t, void*, void*)>("cuMemAllocFromPoolAsync");
        ASSERT_EQ(take(&address, 2 * kMiB, pool, &stream), 0);
        // The service thread queries the pools when the free is done.
        ASSERT_EQ((call<int(std::uint64_t, void*)>("cuMemFreeAsync")(address, &stream)), 0);
        ASSERT_EQ(call<int(void*)>("cuMemPoolDestroy")(pool), 0);
    }
    EXPECT_TRUE(eventually([&] { return daemon().charged_bytes == 0; }));
    EXPECT_EQ(behind<int()>("fake_dead_pools_asked")(), 0);
}

// The driver takes so long to report the free that its context has gone meanwhile, and the context's entry is
// used for one of another GPU.
TEST_F(Front, AFreeThatIsDoneLateIsOneOfItsGpu) {
    behind<void(int)>("fake_set_devices")(2);
    daemon().limit_bytes = 2 * kContextEstimate + 64 * kMiB;
    start();
    void* context = nullptr;
    ASSERT_EQ((call<int(void**, unsigned, int)>("cuCtxCreate_v2")(&context, 0, 0)), 0);
    const auto take = call<int(std::uint64_t*, std::size_t, void*)>("cuMemAllocAsync");
    int stream = 0;
    std::uint64_t address = 0;
    ASSERT_EQ(take(&address, 32 * kMiB, &stream), 0);
    behind<void()>("fake_hold_next_query")();
    ASSERT_EQ((call<int(std::uint64_t, void*)>("cuMemFreeAsync")(address, &stream)), 0);
    ASSERT_TRUE(eventually([&] { return behind<int()>("fake_query_held")() == 1; }));
    ASSERT_EQ(call<int(void*)>("cuCtxDestroy_v2")(context), 0);
    void* other = nullptr;
    ASSERT_EQ((behind<int(void**, unsigned, int)>("cuCtxCreate_v2")(&other, 0, 1)), 0);
    EXPECT_EQ(launch(), cgpu::front::kInvalidDevice);
    behind<void()>("fake_let_query_go")();
    ASSERT_EQ(call<int(void*)>("cuCtxSetCurrent")(context_), 0);
    // Once the free is done, nothing under way on the GPU could make room, so no thread waits for that.
    using std::chrono::steady_clock;
    EXPECT_TRUE(eventually([&] {
        const auto began = steady_clock::now();
        EXPECT_EQ(take(&address, 400 * kMiB, &stream), kOutOfMemory);
        return steady_clock::now() - began < std::chrono::seconds(5);  // half of what it would wait
    }));
}

}  // namespace
