#include <atomic>
#include <thread>
#include <vector>

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

TEST_F(Front, RefusesCheckpointsAndSaysSo) {
    start();
    for (const char* name : {"cuCheckpointProcessCheckpoint", "cuCheckpointProcessRestore"})
        EXPECT_EQ((call<int(int, void*)>(name)(getpid(), nullptr)), kNotSupported) << name;
    EXPECT_TRUE(eventually([&] { return daemon().notices >= 1; }));
    EXPECT_EQ(daemon().last_notice, static_cast<std::uint32_t>(Event::managed_memory_refused));
}

class FrontPrefetch : public Front {
  protected:
    /// Of 4 KiB to the device, or to the host (-1), by the plain function, by the newer form, and by the two
    /// batches.
    std::vector<int> prefetch_to(int device) const {
        using cgpu::front::CUmemLocation;
        CUmemLocation where{device < 0 ? 2 : 1, device < 0 ? 0 : device};
        std::uint64_t address = 0x1000;
        std::size_t bytes = 4096;
        std::size_t first = 0;
        using Batch = int(std::uint64_t*, std::size_t*, std::size_t, CUmemLocation*, std::size_t*,
                          std::size_t, unsigned long long, void*);
        std::vector<int> results{call<int(std::uint64_t, std::size_t, int, void*)>("cuMemPrefetchAsync")(
                                     address, bytes, device, nullptr),
                                 call<int(std::uint64_t, std::size_t, CUmemLocation, unsigned, void*)>(
                                     "cuMemPrefetchAsync_v2")(address, bytes, where, 0, nullptr)};
        for (const char* name : {"cuMemPrefetchBatchAsync", "cuMemDiscardAndPrefetchBatchAsync"})
            results.push_back(call<Batch>(name)(&address, &bytes, 1, &where, &first, 1, 0, nullptr));
        return results;
    }
};

TEST_F(FrontPrefetch, ToTheGpuIsRefused) {
    start();
    EXPECT_EQ(prefetch_to(0), std::vector<int>(4, kNotSupported));
    EXPECT_EQ(prefetch_to(-1), std::vector<int>(4, 0)) << "these only give back";
    EXPECT_TRUE(eventually([&] { return daemon().notices >= 1; }));
}

TEST_F(FrontPrefetch, WithoutMemoryIsolationItPasses) {
    daemon().isolate_memory = 0;
    start();
    EXPECT_EQ(prefetch_to(0), std::vector<int>(4, 0));
}

TEST_F(Front, RefusesWhatWouldOutliveItsChargeOrPassTheGate) {
    start();
    EXPECT_EQ((call<int(unsigned, int, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
                        unsigned long long)>("cuLogicalEndpointBindMem")(1, 0, 0, 7, 0, kMiB, 0)),
              kNotSupported);
    EXPECT_EQ((call<int(unsigned, int, std::uint64_t, void*, std::uint64_t, unsigned long long)>(
                  "cuLogicalEndpointBindAddr")(1, 0, 0, nullptr, kMiB, 0)),
              kNotSupported);
    EXPECT_EQ((call<int(void*, void*)>("cuStreamBeginCaptureToCig")(nullptr, nullptr)), kNotSupported);
}

TEST_F(Front, WithoutMemoryIsolationProcessesAreCheckpointed) {
    daemon().isolate_memory = 0;
    start();
    for (const char* name : {"cuCheckpointProcessCheckpoint", "cuCheckpointProcessRestore"})
        EXPECT_EQ((call<int(int, void*)>(name)(getpid(), nullptr)), 0) << name;
    EXPECT_EQ(daemon().notices, 0u);
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

// Far more than fit into the socket at once: 834 of 100,000 arrived, and in between an export would have been
// lost.
TEST_F(Front, AllRefusalsOfALoopAreTold) {
    start();
    constexpr std::uint32_t kMany = 20'000;
    std::uint64_t address = 0;
    for (std::uint32_t i = 0; i < kMany; ++i)
        ASSERT_EQ(allocate(std::uint64_t{1} << 60, &address), kOutOfMemory);
    EXPECT_TRUE(eventually([&] { return daemon().refused_told == kMany; })) << daemon().refused_told;
    EXPECT_EQ(allocate(kMiB, &address), 0) << "and the link is as before";
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
    EXPECT_TRUE(eventually([&] { return daemon().refused_told == 1; }));
    EXPECT_EQ(daemon().refused_told_bytes, 50 * kMiB);
    EXPECT_EQ(take(&address, 50 * kMiB, nullptr), kOutOfMemory);
    EXPECT_TRUE(eventually([&] { return daemon().refused_told == 2; }));
    // An allocation that is granted in the end was not refused, whether it waited for the free or came after
    // it.
    ASSERT_EQ((call<int(std::uint64_t, void*)>("cuMemFreeAsync")(pooled, nullptr)), 0);
    EXPECT_EQ(allocate(80 * kMiB, &address), 0);
    EXPECT_EQ(daemon().refused_told, 2u);
    // An allocation larger than any card is refused without asking.
    EXPECT_EQ(allocate(std::uint64_t{1} << 60, &address), kOutOfMemory);
    EXPECT_TRUE(eventually([&] { return daemon().refused_told == 3; }));
    EXPECT_EQ(daemon().refused_told_bytes, std::uint64_t{1} << 60);
}

TEST_F(Front, AProgramDoesNotWaitUntilItsRefusalsAreCounted) {
    start();
    mute_daemon();
    // Refused without asking, so nothing else is waited for either. If each waited a second, it would be
    // long.
    constexpr int kRefusals = 100;
    std::atomic<bool> done{false};
    std::thread program([&] {
        call<int(void*)>("cuCtxSetCurrent")(context_);
        std::uint64_t address = 0;
        for (int i = 0; i < kRefusals; ++i)
            EXPECT_EQ(allocate(std::uint64_t{1} << 60, &address), kOutOfMemory);
        done = true;
    });
    EXPECT_TRUE(eventually([&] { return done.load(); }));
    daemon().mute = 0;
    program.join();
    EXPECT_TRUE(eventually([&] { return daemon().refused_told == kRefusals; }));
}

TEST_F(Front, WhatTheDriverRefusesIsNoRefusalOfOurs) {
    start();
    behind<void(int)>("fake_fail_next")(1);
    std::uint64_t address = 0;
    EXPECT_EQ(allocate(64 * kMiB, &address), kOutOfMemory);
    EXPECT_EQ(daemon().refused_told, 0u);
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
