#include "core/wire/message.hpp"
#include "tests/unit/module/front/support/front_fixture.hpp"

namespace {

using cgpu::front::CUmemAllocationProp;
using cgpu::wire::Event;

constexpr int kInvalidDevice = 101;
constexpr int kNotSupported = 801;

TEST_F(Front, AllocatesUpToTheLimitAndNotAByteMore) {
    daemon().limit_bytes = kContextEstimate + 100 * kMiB;
    start();
    std::uint64_t address = 0;
    EXPECT_EQ(allocate(100 * kMiB + 1, &address), kOutOfMemory);
    EXPECT_EQ(heap_bytes(), 0u);
    ASSERT_EQ(allocate(100 * kMiB, &address), 0);
    std::uint64_t more = 0;
    EXPECT_EQ(allocate(1, &more), kOutOfMemory);
    EXPECT_EQ(heap_bytes(), 100 * kMiB);
    ASSERT_EQ(free(address), 0);
    EXPECT_EQ(allocate(100 * kMiB, &address), 0);
    EXPECT_LE(daemon().leased_bytes, 100 * kMiB);
}

TEST_F(Front, AFailedDriverCallLeavesNoCharge) {
    daemon().limit_bytes = kContextEstimate + 64 * kMiB;
    start();
    behind<void(int)>("fake_fail_next")(5);
    std::uint64_t address = 0;
    for (int i = 0; i < 5; ++i) EXPECT_EQ(allocate(64 * kMiB, &address), kOutOfMemory);
    EXPECT_EQ(daemon().refusals, 0u);
    EXPECT_EQ(allocate(64 * kMiB, &address), 0);
    EXPECT_TRUE(eventually([&] { return daemon().charged_bytes == 64 * kMiB; }));
    EXPECT_EQ(free(address), 0);
    EXPECT_TRUE(eventually([&] { return daemon().charged_bytes == 0; }));
}

TEST_F(Front, TellsTheInstancesMemory) {
    daemon().limit_bytes = kContextEstimate + 300 * kMiB;
    start();
    std::uint64_t address = 0;
    ASSERT_EQ(allocate(10 * kMiB, &address), 0);
    std::size_t free_bytes = 0;
    std::size_t total = 0;
    ASSERT_EQ((call<int(std::size_t*, std::size_t*)>("cuMemGetInfo_v2")(&free_bytes, &total)), 0);
    EXPECT_EQ(total, kContextEstimate + 300 * kMiB);
    EXPECT_EQ(free_bytes, 290 * kMiB);
    ASSERT_EQ((call<int(std::size_t*, int)>("cuDeviceTotalMem_v2")(&total, 0)), 0);
    EXPECT_EQ(total, kContextEstimate + 300 * kMiB);

    take_daemon_down();  // the last known figures
    ASSERT_EQ((call<int(std::size_t*, std::size_t*)>("cuMemGetInfo_v2")(&free_bytes, &total)), 0);
    EXPECT_EQ(total, kContextEstimate + 300 * kMiB);
    EXPECT_EQ(free_bytes, 290 * kMiB);
}

TEST_F(Front, RefusesManagedMemoryAndSaysSo) {
    start();
    std::uint64_t address = 0;
    EXPECT_EQ((call<int(std::uint64_t*, std::size_t, unsigned)>("cuMemAllocManaged")(&address, kMiB, 1)),
              kNotSupported);
    EXPECT_EQ(heap_bytes(), 0u);
    EXPECT_TRUE(eventually([&] { return daemon().notices == 1; }));
    EXPECT_EQ(daemon().last_notice, static_cast<std::uint32_t>(Event::managed_memory_refused));
    int value = -1;
    const auto attribute = call<int(int*, int, int)>("cuDeviceGetAttribute");
    for (const int offers : {83, 88, 89, 100, 101}) {
        ASSERT_EQ(attribute(&value, offers, 0), 0);
        EXPECT_EQ(value, 0) << offers;
    }
    ASSERT_EQ(attribute(&value, 75, 0), 0);
    EXPECT_EQ(value, 1);
}

TEST_F(Front, SharingOnlyShowsAndGivesTheWholeCard) {
    daemon().isolate_memory = 0;
    daemon().limit_bytes = kContextEstimate + kMiB;
    start();
    std::uint64_t address = 0;
    EXPECT_EQ(allocate(100 * kMiB, &address), 0);
    EXPECT_EQ((call<int(std::uint64_t*, std::size_t, unsigned)>("cuMemAllocManaged")(&address, kMiB, 1)), 0);
    std::size_t total = 0;
    ASSERT_EQ((call<int(std::size_t*, int)>("cuDeviceTotalMem_v2")(&total, 0)), 0);
    EXPECT_EQ(total, std::uint64_t{16} << 30);
}

TEST_F(Front, ACardOfSomebodyElseIsRefused) {
    ASSERT_EQ(init(), 0);
    void* context = nullptr;
    EXPECT_EQ((call<int(void**, unsigned, int)>("cuCtxCreate_v2")(&context, 0, 1)), kInvalidDevice);
    EXPECT_EQ((call<int(void**, int)>("cuDevicePrimaryCtxRetain")(&context, 1)), kInvalidDevice);
    EXPECT_TRUE(eventually([&] { return daemon().notices == 1; }));
    EXPECT_EQ(daemon().last_notice, static_cast<std::uint32_t>(Event::foreign_device_refused));
}

TEST_F(Front, EveryContextNeedsItsMemoryToo) {
    daemon().limit_bytes = kContextEstimate - 1;
    ASSERT_EQ(init(), 0);
    void* context = nullptr;
    EXPECT_EQ((call<int(void**, unsigned, int)>("cuCtxCreate_v2")(&context, 0, 0)), kOutOfMemory);
    EXPECT_EQ(daemon().refused_told, 1u);
    daemon().limit_bytes = kContextEstimate + 64 * kMiB;
    ASSERT_EQ((call<int(void**, unsigned, int)>("cuCtxCreate_v2")(&context, 0, 0)), 0);
    void* second = nullptr;
    EXPECT_EQ((call<int(void**, unsigned, int)>("cuCtxCreate_v2")(&second, 0, 0)), kOutOfMemory);
    daemon().limit_bytes = 2 * kContextEstimate + 64 * kMiB;
    ASSERT_EQ((call<int(void**, unsigned, int)>("cuCtxCreate_v2")(&second, 0, 0)), 0);
    EXPECT_EQ(daemon().context_bytes, 2 * kContextEstimate);
    std::uint64_t address = 0;
    ASSERT_EQ(allocate(64 * kMiB, &address), 0);
    ASSERT_EQ((call<int(void*)>("cuCtxDestroy_v2")(second)), 0);  // with what was made in it
    EXPECT_TRUE(eventually([&] { return daemon().charged_bytes == 0; }));
    EXPECT_EQ(daemon().contexts_gone, 0u);
    ASSERT_EQ((call<int(void*)>("cuCtxDestroy_v2")(context)), 0);
    EXPECT_TRUE(eventually([&] { return daemon().contexts_gone == 1; }));
}

TEST_F(Front, ARefusedAllocationIsToldOnceHoweverOftenItWasAskedFor) {
    daemon().limit_bytes = kContextEstimate + 100 * kMiB;
    start();
    std::uint64_t pooled = 0;
    const auto take = call<int(std::uint64_t*, std::size_t, void*)>("cuMemAllocAsync");
    ASSERT_EQ(take(&pooled, 60 * kMiB, nullptr), 0);
    // With a pool the allocation is tried again, after the pool has released what it can.
    std::uint64_t address = 0;
    EXPECT_EQ(allocate(50 * kMiB, &address), kOutOfMemory);
    EXPECT_GE(daemon().refusals, 2u);
    EXPECT_EQ(daemon().refused_told, 1u) << "before the program hears of it";
    EXPECT_EQ(daemon().refused_told_bytes, 50 * kMiB);
    EXPECT_EQ(take(&address, 50 * kMiB, nullptr), kOutOfMemory);
    EXPECT_EQ(daemon().refused_told, 2u);
    // An allocation that is granted in the end was not refused, whether it waited for the free or came after
    // it.
    ASSERT_EQ((call<int(std::uint64_t, void*)>("cuMemFreeAsync")(pooled, nullptr)), 0);
    EXPECT_EQ(allocate(80 * kMiB, &address), 0);
    EXPECT_EQ(daemon().refused_told, 2u);
    // An allocation larger than any card is refused without asking.
    EXPECT_EQ(allocate(std::uint64_t{1} << 60, &address), kOutOfMemory);
    EXPECT_EQ(daemon().refused_told, 3u);
    EXPECT_EQ(daemon().refused_told_bytes, std::uint64_t{1} << 60);
}

TEST_F(Front, WhatTheDriverRefusesIsNoRefusalOfOurs) {
    start();
    behind<void(int)>("fake_fail_next")(1);
    std::uint64_t address = 0;
    EXPECT_EQ(allocate(64 * kMiB, &address), kOutOfMemory);
    EXPECT_EQ(daemon().refused_told, 0u);
}

TEST_F(Front, CodeIsSetAsideBeforeItIsLoaded) {
    daemon().limit_bytes = kContextEstimate + 40 * kMiB;
    start();
    const auto load = call<int(void**, const void*)>("cuModuleLoadData");
    const std::string large(50 * kMiB, 'x');
    const std::string small(10 * kMiB - 1, 'x');
    void* module = nullptr;
    EXPECT_EQ(load(&module, large.c_str()), kOutOfMemory);
    EXPECT_EQ(heap_bytes(), 0u) << "the driver was asked all the same";
    behind<void(int)>("fake_fail_next")(3);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(load(&module, small.c_str()), kOutOfMemory);
    EXPECT_TRUE(eventually([&] { return daemon().context_bytes == kContextEstimate; }))
        << "nothing stays behind";
    ASSERT_EQ(load(&module, small.c_str()), 0);
    EXPECT_EQ(daemon().context_bytes, kContextEstimate + 10 * kMiB);
    // The unused part of this process's own lease is no reason to refuse code.
    std::uint64_t address = 0;
    ASSERT_EQ(allocate(30 * kMiB, &address), 0);
    ASSERT_EQ(free(address), 0);
    void* second = nullptr;
    ASSERT_EQ(load(&second, small.c_str()), 0);
    ASSERT_EQ((call<int(void*)>("cuModuleUnload")(module)), 0);
    EXPECT_TRUE(eventually([&] { return daemon().moved_bytes == small.size(); }));
}

TEST_F(Front, ThePrimaryContextCountsOnce) {
    ASSERT_EQ(init(), 0);
    void* context = nullptr;
    const auto retain = call<int(void**, int)>("cuDevicePrimaryCtxRetain");
    const auto release = call<int(int)>("cuDevicePrimaryCtxRelease_v2");
    ASSERT_EQ(retain(&context, 0), 0);
    ASSERT_EQ(retain(&context, 0), 0);
    ASSERT_EQ(release(0), 0);
    EXPECT_TRUE(eventually([&] { return daemon().contexts_done == 1; }));
    EXPECT_EQ(daemon().contexts_gone, 0u);
    ASSERT_EQ(release(0), 0);
    EXPECT_TRUE(eventually([&] { return daemon().contexts_gone == 1; }));
    ASSERT_EQ(retain(&context, 0), 0);
    EXPECT_TRUE(eventually([&] { return daemon().contexts_done == 2; }));
}

TEST_F(Front, PhysicalMemoryIsHeldByItsMappings) {
    start();
    CUmemAllocationProp what{};
    what.type = 1;
    what.location = {1, 0};
    std::uint64_t handle = 0;
    const auto create =
        call<int(std::uint64_t*, std::size_t, const CUmemAllocationProp*, unsigned long long)>("cuMemCreate");
    ASSERT_EQ(create(&handle, 32 * kMiB, &what, 0), 0);
    const auto map =
        call<int(std::uint64_t, std::size_t, std::size_t, std::uint64_t, unsigned long long)>("cuMemMap");
    ASSERT_EQ(map(0x5000'0000'0000, 32 * kMiB, 0, handle, 0), 0);
    ASSERT_EQ(call<int(std::uint64_t)>("cuMemRelease")(handle), 0);
    std::uint64_t address = 0;
    EXPECT_EQ(allocate(daemon().limit_bytes - kContextEstimate - 30 * kMiB, &address), kOutOfMemory);
    EXPECT_TRUE(eventually([&] { return daemon().charged_bytes == 32 * kMiB; }));
    ASSERT_EQ((call<int(std::uint64_t, std::size_t)>("cuMemUnmap")(0x5000'0000'0000, 32 * kMiB)), 0);
    EXPECT_TRUE(eventually([&] { return daemon().charged_bytes == 0; }));

    what.location = {2, 0};  // host memory is not the card's
    ASSERT_EQ(create(&handle, 32 * kMiB, &what, 0), 0);
    what.location = {1, 1};
    EXPECT_EQ(create(&handle, 32 * kMiB, &what, 0), kInvalidDevice);
    EXPECT_EQ(daemon().charged_bytes, 0u);
}

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

// The module's thread must leave the driver when the driver ends: otherwise the driver would abort.
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

TEST_F(Front, ArraysAreCharged) {
    daemon().limit_bytes = kContextEstimate + 2 * kMiB;
    start();
    const cgpu::front::ArrayDescriptor array{1024, 512, 0x20, 1};  // 2 MiB
    std::uint64_t first = 0;
    std::uint64_t second = 0;
    const auto create = call<int(std::uint64_t*, const cgpu::front::ArrayDescriptor*)>("cuArrayCreate_v2");
    ASSERT_EQ(create(&first, &array), 0);
    EXPECT_EQ(create(&second, &array), kOutOfMemory);
    ASSERT_EQ(call<int(std::uint64_t)>("cuArrayDestroy")(first), 0);
    EXPECT_EQ(create(&second, &array), 0);
}

TEST_F(Front, ManyThreadsStayWithinTheLimit) {
    daemon().limit_bytes = kContextEstimate + 128 * kMiB;
    start();
    std::atomic<std::uint64_t> most{0};
    std::vector<std::thread> threads;
    threads.reserve(4);
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            call<int(void*)>("cuCtxSetCurrent")(context_);
            for (int round = 0; round < 200; ++round) {
                std::uint64_t address = 0;
                if (allocate(48 * kMiB, &address) != 0) continue;
                auto seen = heap_bytes();
                for (auto before = most.load(); seen > before && !most.compare_exchange_weak(before, seen);)
                    continue;
                free(address);
            }
        });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_GT(most, 0u);
    EXPECT_LE(most, 128 * kMiB);
    EXPECT_EQ(heap_bytes(), 0u);
    EXPECT_TRUE(eventually([&] { return daemon().charged_bytes == 0; }));
}

}  // namespace
