// Bytes, checked against the ledger.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>

#include "tests/sim/test/support/support.hpp"

namespace simgpu::test {
namespace {

TEST(Memory, TheLedgerCountsWholeBlocksAndContexts) {
    TestDevice device(2);
    Child child([](const Child::Line& line) {
        use_device(1);
        line.say('c');
        line.wait();
        const CUdeviceptr one = allocate(1);
        REQUIRE_EQ(allocate(1000) - one, 512);
        line.say('1');
        line.wait();
        const CUdeviceptr large = allocate(3 * kMiB);
        REQUIRE_EQ(large % (2 * kMiB), 0);
        line.say('2');
        line.wait();
        REQUIRE_OK(cuMemFree(one));
        REQUIRE_OK(cuMemFree(one + 512));
        REQUIRE_OK(cuMemFree(large));
        REQUIRE_EQ(cuMemFree(large), CUDA_ERROR_INVALID_VALUE);
        line.say('3');
        line.wait();
        REQUIRE_OK(cuDevicePrimaryCtxRelease(1));
        line.say('4');
        line.wait();
    });
    ASSERT_EQ(child.hear(), 'c');
    EXPECT_EQ(device.use(child.pid(), 1).context_bytes, 100 * kMiB);
    EXPECT_EQ(device.use(child.pid(), 1).allocated_bytes, 0U);
    EXPECT_EQ(device.used_bytes(0), 0U);
    child.tell();
    ASSERT_EQ(child.hear(), '1');
    EXPECT_EQ(device.use(child.pid(), 1).allocated_bytes, 2 * kMiB);
    child.tell();
    ASSERT_EQ(child.hear(), '2');
    EXPECT_EQ(device.use(child.pid(), 1).allocated_bytes, 6 * kMiB);
    child.tell();
    ASSERT_EQ(child.hear(), '3');
    EXPECT_EQ(device.use(child.pid(), 1).allocated_bytes, 0U);
    child.tell();
    ASSERT_EQ(child.hear(), '4');
    EXPECT_EQ(device.used_bytes(1), 0U);
    EXPECT_EQ(device.use(child.pid(), 1).peak_bytes, 106 * kMiB);
    EXPECT_EQ(device.holders(), 1);
    child.tell();
    EXPECT_EQ(child.wait(), 0);
    EXPECT_EQ(device.holders(), 0);
}

TEST(Memory, PitchArraysAndManagedMemoryAreCountedAtTheirPaddedSize) {
    TestDevice device(1);
    Child child([](const Child::Line& line) {
        use_device(0);
        CUdeviceptr pointer = 0;
        std::size_t pitch = 0;
        REQUIRE_OK(cuMemAllocPitch(&pointer, &pitch, 1000, 8192, 4));
        REQUIRE_EQ(pitch, 1024);
        line.say('p');
        line.wait();
        // 113 elements of 4 bytes: rows of 512 bytes; 8193 rows don't fit into 4 MiB.
        const CUDA_ARRAY_DESCRIPTOR flat{113, 8193, CU_AD_FORMAT_FLOAT, 1};
        CUarray array = nullptr;
        REQUIRE_OK(cuArrayCreate(&array, &flat));
        line.say('a');
        line.wait();
        REQUIRE_OK(cuArrayDestroy(array));
        const CUDA_ARRAY3D_DESCRIPTOR cube{65, 64, 1024, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0};
        REQUIRE_OK(cuArray3DCreate(&array, &cube));
        line.say('3');
        line.wait();
        REQUIRE_OK(cuMemAllocManaged(&pointer, 5 * kMiB, CU_MEM_ATTACH_GLOBAL));
        line.say('m');
        line.wait();
    });
    const auto allocated = [&] { return device.use(child.pid()).allocated_bytes; };
    ASSERT_EQ(child.hear(), 'p');
    EXPECT_EQ(allocated(), 8 * kMiB);
    child.tell();
    ASSERT_EQ(child.hear(), 'a');
    EXPECT_EQ(allocated(), 8 * kMiB + 6 * kMiB);
    child.tell();
    ASSERT_EQ(child.hear(), '3');
    EXPECT_EQ(allocated(), 8 * kMiB + 8 * kMiB);
    child.tell();
    ASSERT_EQ(child.hear(), 'm');
    EXPECT_EQ(allocated(), 16 * kMiB + 6 * kMiB);
}

TEST(Memory, PoolsGiveBackAtASynchronisationAndReuseInStreamOrder) {
    TestDevice device(1);
    Child child([](const Child::Line& line) {
        use_device(0);
        CUdeviceptr pointer = 0;
        // This is far more than the card has if nothing were reused.
        for (int i = 0; i < 20; ++i) {
            REQUIRE_OK(cuMemAllocAsync(&pointer, 300 * kMiB, nullptr));
            launch_busy(nullptr, 100);
            REQUIRE_OK(cuMemFreeAsync(pointer, nullptr));
        }
        line.say('r');
        line.wait();
        REQUIRE_OK(cuStreamSynchronize(nullptr));
        line.say('s');
        line.wait();
        CUmemoryPool pool = nullptr;
        cuuint64_t keep = UINT64_MAX;
        REQUIRE_OK(cuDeviceGetDefaultMemPool(&pool, 0));
        REQUIRE_OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep));
        REQUIRE_OK(cuMemAllocAsync(&pointer, 50 * kMiB, nullptr));
        REQUIRE_OK(cuMemFreeAsync(pointer, nullptr));
        REQUIRE_OK(cuCtxSynchronize());
        line.say('k');
        line.wait();
        REQUIRE_OK(cuMemPoolTrimTo(pool, 0));
        line.say('t');
        line.wait();
    });
    const auto allocated = [&] { return device.use(child.pid()).allocated_bytes; };
    ASSERT_EQ(child.hear(), 'r');
    EXPECT_EQ(allocated(), 300 * kMiB);
    child.tell();
    ASSERT_EQ(child.hear(), 's');
    EXPECT_EQ(allocated(), 0U);
    child.tell();
    ASSERT_EQ(child.hear(), 'k');
    EXPECT_EQ(allocated(), 50 * kMiB);
    child.tell();
    ASSERT_EQ(child.hear(), 't');
    EXPECT_EQ(allocated(), 0U);
}

TEST(Memory, RunsOutAcrossProcessesAndComesBackWhenOneIsKilled) {
    TestDevice device(1);
    Child holder([](const Child::Line& line) {
        use_device(0);
        allocate(700 * kMiB);
        line.say('h');
        line.wait();
    });
    ASSERT_EQ(holder.hear(), 'h');
    Child other([](const Child::Line& line) {
        use_device(0);
        CUdeviceptr pointer = 0;
        REQUIRE_EQ(cuMemAlloc(&pointer, 200 * kMiB), CUDA_ERROR_OUT_OF_MEMORY);
        std::size_t free = 0;
        std::size_t total = 0;
        REQUIRE_OK(cuMemGetInfo(&free, &total));
        REQUIRE_EQ(free, 124 * kMiB);
        REQUIRE_EQ(total, 1024 * kMiB);
        line.say('f');
        line.wait();
        REQUIRE_OK(cuMemAlloc(&pointer, 900 * kMiB));
        line.say('g');
    });
    ASSERT_EQ(other.hear(), 'f');
    holder.kill();
    other.tell();
    EXPECT_EQ(other.hear(), 'g');
    EXPECT_EQ(other.wait(), 0);
}

TEST(Memory, AForkedChildKeepsItAliveButCanNotUseCuda) {
    TestDevice device(1);
    Child parent([](const Child::Line& line) {
        use_device(0);
        allocate(500 * kMiB);
        if (fork() == 0) {
            int count = 0;
            REQUIRE_EQ(cuInit(0), CUDA_ERROR_NOT_INITIALIZED);
            REQUIRE_EQ(cuDeviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED);
            for (int descriptor = 3; descriptor < 1024; ++descriptor) {
                if (descriptor != line.to_test && descriptor != line.from_test) close(descriptor);
            }
            line.say('c');
            line.wait();
            _exit(0);
        }
        pause();
    });
    ASSERT_EQ(parent.hear(), 'c');
    const pid_t pid = parent.pid();
    ::kill(pid, SIGKILL);
    EXPECT_EQ(parent.wait(), 128 + SIGKILL);
    EXPECT_EQ(device.used_bytes(), 600 * kMiB);
    parent.tell();
    EXPECT_TRUE(eventually([&] { return device.used_bytes() == 0; }));
    EXPECT_FALSE(device.use(pid).alive);
}

TEST(Memory, UntouchedMemoryCostsNothing) {
    TestDevice device(1);
    Child child([](const Child::Line&) {
        use_device(0);
        const CUdeviceptr pointer = allocate(900 * kMiB);
        REQUIRE_OK(cuMemsetD8(pointer + 899 * kMiB, 7, 1));
        unsigned char byte = 0;
        REQUIRE_OK(cuMemcpyDtoH(&byte, pointer + 899 * kMiB, 1));
        REQUIRE_EQ(byte, 7);
        rusage usage{};
        getrusage(RUSAGE_SELF, &usage);
        REQUIRE_EQ(usage.ru_maxrss < 200L * 1024, true);
    });
    EXPECT_EQ(child.wait(), 0);
}

}  // namespace
}  // namespace simgpu::test
