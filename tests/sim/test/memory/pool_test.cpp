// Pools that programs make for themselves.
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/sim/test/support/mailbox.hpp"
#include "tests/sim/test/support/support.hpp"
#include "tests/sim/test/support/virtual_memory.hpp"

namespace simgpu::test {
namespace {

CUmemoryPool create_pool(std::size_t max_size,
                         CUmemAllocationHandleType handle_type = CU_MEM_HANDLE_TYPE_NONE) {
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.handleTypes = handle_type;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    properties.maxSize = max_size;
    CUmemoryPool pool = nullptr;
    REQUIRE_OK(cuMemPoolCreate(&pool, &properties));
    return pool;
}

cuuint64_t attribute(CUmemoryPool pool, CUmemPool_attribute which) {
    cuuint64_t value = 0;
    REQUIRE_OK(cuMemPoolGetAttribute(pool, which, &value));
    return value;
}

TEST(Pool, ReservesUpToItsSizeAndTellsWhatItUses) {
    TestDevice device(1);
    Child child([](const Child::Line& line) {
        use_device(0);
        CUmemoryPool pool = create_pool(9 * kMiB);
        cuuint64_t keep = UINT64_MAX;
        REQUIRE_OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep));
        CUdeviceptr first = 0;
        CUdeviceptr second = 0;
        REQUIRE_OK(cuMemAllocFromPoolAsync(&first, 7 * kMiB, pool, nullptr));
        REQUIRE_EQ(cuMemAllocFromPoolAsync(&second, 3 * kMiB, pool, nullptr), CUDA_ERROR_OUT_OF_MEMORY);
        REQUIRE_OK(cuMemAllocFromPoolAsync(&second, 2 * kMiB, pool, nullptr));
        REQUIRE_EQ(attribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 10 * kMiB);
        REQUIRE_EQ(attribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 9 * kMiB);
        line.say('f');
        line.wait();
        REQUIRE_OK(cuMemFreeAsync(first, nullptr));
        REQUIRE_OK(cuCtxSynchronize());
        REQUIRE_EQ(attribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 2 * kMiB);
        REQUIRE_EQ(attribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH), 9 * kMiB);
        REQUIRE_OK(cuMemPoolTrimTo(pool, 0));
        REQUIRE_EQ(attribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 2 * kMiB);
        REQUIRE_EQ(attribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH), 10 * kMiB);
        line.say('t');
        line.wait();
    });
    ASSERT_EQ(child.hear(), 'f');
    EXPECT_EQ(device.use(child.pid()).allocated_bytes, 10 * kMiB);
    child.tell();
    ASSERT_EQ(child.hear(), 't');
    EXPECT_EQ(device.use(child.pid()).allocated_bytes, 2 * kMiB);
    child.tell();
    EXPECT_EQ(child.wait(), 0);
}

TEST(Pool, DestroyedItGivesEverythingBackWithTheLastAllocation) {
    TestDevice device(1);
    Child child([](const Child::Line& line) {
        use_device(0);
        CUmemoryPool pool = create_pool(0);
        CUmemoryPool found = nullptr;
        REQUIRE_OK(cuDeviceSetMemPool(0, pool));
        CUdeviceptr pointer = 0;
        REQUIRE_OK(cuMemAllocAsync(&pointer, 4 * kMiB, nullptr));
        REQUIRE_OK(cuPointerGetAttribute(&found, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, pointer));
        REQUIRE_EQ(found == pool, true);
        REQUIRE_OK(cuMemPoolDestroy(pool));
        REQUIRE_EQ(cuMemPoolTrimTo(pool, 0), CUDA_ERROR_INVALID_VALUE);
        CUmemoryPool standard = nullptr;
        REQUIRE_OK(cuDeviceGetMemPool(&found, 0));
        REQUIRE_OK(cuDeviceGetDefaultMemPool(&standard, 0));
        REQUIRE_EQ(found == standard, true);
        REQUIRE_EQ(cuMemPoolDestroy(standard), CUDA_ERROR_INVALID_VALUE);
        line.say('d');
        line.wait();
        REQUIRE_OK(cuMemFreeAsync(pointer, nullptr));
        REQUIRE_OK(cuStreamQuery(nullptr));
        line.say('f');
        line.wait();
    });
    ASSERT_EQ(child.hear(), 'd');
    EXPECT_EQ(device.use(child.pid()).allocated_bytes, 4 * kMiB);
    child.tell();
    ASSERT_EQ(child.hear(), 'f');
    EXPECT_EQ(device.use(child.pid()).allocated_bytes, 0U);
}

TEST(Pool, OtherGpusReachItsMemoryWhenTheyMay) {
    TestDevice device(2);
    Child child([](const Child::Line&) {
        use_device(0);
        CUmemoryPool pool = create_pool(0);
        CUdeviceptr pointer = 0;
        REQUIRE_OK(cuMemAllocFromPoolAsync(&pointer, 4096, pool, nullptr));
        REQUIRE_OK(cuCtxSynchronize());
        CUmemLocation other{CU_MEM_LOCATION_TYPE_DEVICE, 1};
        CUmemAccess_flags flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
        REQUIRE_OK(cuMemPoolGetAccess(&flags, pool, &other));
        REQUIRE_EQ(flags, CU_MEM_ACCESS_FLAGS_PROT_NONE);
        const CUmemAccessDesc allowed{other, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
        REQUIRE_OK(cuMemPoolSetAccess(pool, &allowed, 1));
        use_device(1);
        float one = 1;
        unsigned int count = 1;
        void* parameters[] = {&pointer, &one, &count};
        const auto fill = [&] {
            REQUIRE_OK(cuLaunchKernel(kernel("fill"), 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
            return cuCtxSynchronize();
        };
        REQUIRE_OK(fill());
        const CUmemAccessDesc forbidden{other, CU_MEM_ACCESS_FLAGS_PROT_NONE};
        REQUIRE_OK(cuMemPoolSetAccess(pool, &forbidden, 1));
        REQUIRE_EQ(fill(), CUDA_ERROR_ILLEGAL_ADDRESS);
    });
    EXPECT_EQ(child.wait(), 0);
}

TEST(Pool, AnotherProcessOpensItsMemory) {
    TestDevice device(1);
    Mailbox mailbox;
    Child exporter([&](const Child::Line& line) {
        use_device(0);
        CUmemoryPool pool = create_pool(0, kFd);
        CUdeviceptr unused = 0;
        CUdeviceptr pointer = 0;
        REQUIRE_OK(cuMemAllocFromPoolAsync(&unused, 512, pool, nullptr));
        REQUIRE_OK(cuMemAllocFromPoolAsync(&pointer, 4096, pool, nullptr));
        REQUIRE_OK(cuMemsetD32(pointer, 11, 1024));
        int descriptor = -1;
        REQUIRE_OK(cuMemPoolExportToShareableHandle(&descriptor, pool, kFd, 0));
        mailbox.send_descriptor(descriptor);
        CUmemPoolPtrExportData data{};
        REQUIRE_OK(cuMemPoolExportPointer(&data, pointer));
        mailbox.send(data);
        line.say('e');
        line.wait();
        REQUIRE_EQ(read_word(pointer), 12);
        line.say('r');
        line.wait();
    });
    ASSERT_EQ(exporter.hear(), 'e');
    Child importer([&](const Child::Line& line) {
        use_device(0);
        CUmemoryPool pool = nullptr;
        const int descriptor = mailbox.receive_descriptor();
        REQUIRE_OK(cuMemPoolImportFromShareableHandle(&pool, as_shareable(descriptor), kFd, 0));
        auto data = mailbox.receive<CUmemPoolPtrExportData>();
        CUdeviceptr pointer = 0;
        REQUIRE_OK(cuMemPoolImportPointer(&pointer, pool, &data));
        REQUIRE_EQ(read_word(pointer), 11);
        REQUIRE_OK(cuMemsetD32(pointer, 12, 1));
        REQUIRE_EQ(cuMemAllocFromPoolAsync(&pointer, 512, pool, nullptr), CUDA_ERROR_INVALID_VALUE);
        REQUIRE_EQ(cuDeviceSetMemPool(0, pool), CUDA_ERROR_INVALID_VALUE);
        line.say('i');
        line.wait();
        REQUIRE_OK(cuMemFreeAsync(pointer, nullptr));
        REQUIRE_OK(cuCtxSynchronize());
        line.say('f');
        line.wait();
    });
    ASSERT_EQ(importer.hear(), 'i');
    EXPECT_EQ(device.use(exporter.pid()).allocated_bytes, 2 * kMiB);
    EXPECT_EQ(device.use(importer.pid()).allocated_bytes, 0U);
    exporter.tell();
    ASSERT_EQ(exporter.hear(), 'r');
    exporter.kill();
    EXPECT_EQ(device.use(importer.pid()).allocated_bytes, 2 * kMiB);
    importer.tell();
    ASSERT_EQ(importer.hear(), 'f');
    EXPECT_EQ(device.used_bytes(), 100 * kMiB);
}

}  // namespace
}  // namespace simgpu::test
