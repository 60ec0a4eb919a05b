// Memory that is reserved, created and mapped in separate steps (cuMemCreate, cuMemMap).
#include "tests/sim/test/support/virtual_memory.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/sim/device/file/address.hpp"

namespace simgpu::test {
namespace {

TEST(VirtualMemory, LivesUntilTheLastOfHandlesAndMappingsHasGone) {
    TestDevice device(1);
    Child child([](const Child::Line& line) {
        use_device(0);
        const auto properties = on_gpu(0);
        std::size_t granule = 0;
        REQUIRE_OK(cuMemGetAllocationGranularity(&granule, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
        REQUIRE_EQ(granule, 2 * kMiB);
        const CUdeviceptr range = reserve(64 * kMiB);
        line.say('r');
        line.wait();
        const auto handle = create(properties, 6 * kMiB);
        line.say('c');
        line.wait();
        REQUIRE_OK(cuMemMap(range, 6 * kMiB, 0, handle, 0));
        REQUIRE_OK(cuMemRelease(handle));
        line.say('m');
        line.wait();
        CUmemGenericAllocationHandle again = 0;
        REQUIRE_OK(cuMemRetainAllocationHandle(&again, at_address(range + 5 * kMiB)));
        REQUIRE_EQ(again, handle);
        REQUIRE_OK(cuMemUnmap(range, 6 * kMiB));
        line.say('u');
        line.wait();
        REQUIRE_OK(cuMemRelease(again));
        REQUIRE_EQ(cuMemRelease(again), CUDA_ERROR_INVALID_VALUE);
        REQUIRE_OK(cuMemAddressFree(range, 64 * kMiB));
        line.say('f');
        line.wait();
    });
    const auto expect = [&](char step, std::uint64_t bytes) {
        ASSERT_EQ(child.hear(), step);
        EXPECT_EQ(device.use(child.pid()).allocated_bytes, bytes) << step;
        EXPECT_EQ(device.used_bytes(), 100 * kMiB + bytes) << step;
        child.tell();
    };
    expect('r', 0);
    expect('c', 6 * kMiB);
    expect('m', 6 * kMiB);
    expect('u', 6 * kMiB);
    expect('f', 0);
    EXPECT_EQ(child.wait(), 0);
}

TEST(VirtualMemory, TwoMappingsShowTheSameBytesAndARangeGoesOverSeveral) {
    TestDevice device(1);
    Child child([](const Child::Line&) {
        use_device(0);
        const auto first = create(on_gpu(0), 2 * kMiB);
        const auto second = create(on_gpu(0), 2 * kMiB);
        const CUdeviceptr range = reserve(6 * kMiB);
        REQUIRE_OK(cuMemMap(range, 2 * kMiB, 0, first, 0));
        REQUIRE_OK(cuMemMap(range + 2 * kMiB, 2 * kMiB, 0, second, 0));
        REQUIRE_OK(cuMemMap(range + 4 * kMiB, 2 * kMiB, 0, first, 0));
        allow(range, 6 * kMiB, 0);
        CUdeviceptr from = range + kMiB;
        float one = 1;
        unsigned int count = 2 * kMiB / sizeof(float);
        void* parameters[] = {&from, &one, &count};
        REQUIRE_OK(cuLaunchKernel(kernel("fill"), 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
        std::vector<float> all(6 * kMiB / sizeof(float));
        REQUIRE_OK(cuMemcpyDtoH(all.data(), range, 6 * kMiB));
        const auto at = [&](std::size_t mib_half) { return all[mib_half * kMiB / 2 / sizeof(float)]; };
        REQUIRE_EQ(at(1), 0);
        REQUIRE_EQ(at(2), 1);
        REQUIRE_EQ(at(5), 1);
        REQUIRE_EQ(at(6), 0);
        REQUIRE_EQ(at(10), 1);
        REQUIRE_OK(cuMemsetD32(range + 4 * kMiB, 7, 1));
        REQUIRE_EQ(read_word(range), 7);
        REQUIRE_EQ(cuMemcpyDtoH(all.data(), range, 6 * kMiB + 1), CUDA_ERROR_INVALID_VALUE);
        REQUIRE_EQ(cuMemFree(range), CUDA_ERROR_INVALID_VALUE);
    });
    EXPECT_EQ(child.wait(), 0);
}

TEST(VirtualMemory, WithoutAccessCopiesAreRefusedAndKernelsBreakTheContext) {
    TestDevice device(2);
    Child child([](const Child::Line&) {
        use_device(0);
        const CUdeviceptr range = reserve(4 * kMiB);
        unsigned int word = 0;
        REQUIRE_EQ(cuMemcpyDtoH(&word, range, sizeof word), CUDA_ERROR_INVALID_VALUE);
        REQUIRE_EQ(cuMemcpyAsync(range, range, sizeof word, nullptr), CUDA_ERROR_INVALID_VALUE);
        REQUIRE_OK(cuMemMap(range, 2 * kMiB, 0, create(on_gpu(0), 2 * kMiB), 0));
        REQUIRE_EQ(cuMemcpyDtoH(&word, range, sizeof word), CUDA_ERROR_INVALID_VALUE);
        REQUIRE_EQ(cuMemsetD32(range, 1, 1), CUDA_ERROR_INVALID_VALUE);
        allow(range, 2 * kMiB, 0, CU_MEM_ACCESS_FLAGS_PROT_READ);
        REQUIRE_OK(cuMemcpyDtoH(&word, range, sizeof word));
        REQUIRE_EQ(cuMemsetD32(range, 1, 1), CUDA_ERROR_INVALID_VALUE);
        allow(range, 2 * kMiB, 1);
        unsigned long long flags = 0;
        const CUmemLocation self{CU_MEM_LOCATION_TYPE_DEVICE, 0};
        const CUmemLocation other{CU_MEM_LOCATION_TYPE_DEVICE, 1};
        REQUIRE_OK(cuMemGetAccess(&flags, &self, range));
        REQUIRE_EQ(flags, CU_MEM_ACCESS_FLAGS_PROT_READ);
        REQUIRE_OK(cuMemGetAccess(&flags, &other, range));
        REQUIRE_EQ(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
        CUdeviceptr to = range;
        float one = 1;
        unsigned int count = 1;
        void* parameters[] = {&to, &one, &count};
        REQUIRE_OK(cuLaunchKernel(kernel("fill"), 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
        REQUIRE_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
    });
    EXPECT_EQ(child.wait(), 0);
}

TEST(VirtualMemory, WhatDoesNotFitIsRefused) {
    TestDevice device(1);
    Child child([](const Child::Line&) {
        use_device(0);
        const auto properties = on_gpu(0);
        CUmemGenericAllocationHandle handle = 0;
        REQUIRE_EQ(cuMemCreate(&handle, kMiB, &properties, 0), CUDA_ERROR_INVALID_VALUE);
        REQUIRE_EQ(cuMemCreate(&handle, 926 * kMiB, &properties, 0), CUDA_ERROR_OUT_OF_MEMORY);
        const auto nowhere = on_gpu(1);
        REQUIRE_EQ(cuMemCreate(&handle, 2 * kMiB, &nowhere, 0), CUDA_ERROR_INVALID_DEVICE);
        handle = create(properties, 4 * kMiB);
        const CUdeviceptr range = reserve(8 * kMiB);
        REQUIRE_EQ(cuMemMap(range, 8 * kMiB, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
        REQUIRE_EQ(cuMemMap(range + kMiB, 2 * kMiB, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
        REQUIRE_EQ(cuMemMap(range + 6 * kMiB, 4 * kMiB, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
        REQUIRE_OK(cuMemMap(range, 4 * kMiB, 0, handle, 0));
        REQUIRE_EQ(cuMemMap(range + 2 * kMiB, 4 * kMiB, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
        REQUIRE_EQ(cuMemUnmap(range, 2 * kMiB), CUDA_ERROR_INVALID_VALUE);
        REQUIRE_EQ(cuMemAddressFree(range, 8 * kMiB), CUDA_ERROR_INVALID_VALUE);
        const CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
        REQUIRE_EQ(cuMemSetAccess(range, 6 * kMiB, &access, 1), CUDA_ERROR_INVALID_VALUE);
        REQUIRE_OK(cuMemUnmap(range, 4 * kMiB));
        REQUIRE_EQ(cuMemAddressFree(range, 4 * kMiB), CUDA_ERROR_INVALID_VALUE);
        REQUIRE_OK(cuMemAddressFree(range, 8 * kMiB));
    });
    EXPECT_EQ(child.wait(), 0);
}

TEST(VirtualMemory, HostMemoryIsNotTheCards) {
    TestDevice device(1);
    Child child([](const Child::Line& line) {
        use_device(0);
        CUmemAllocationProp properties = on_gpu(0);
        properties.location = {CU_MEM_LOCATION_TYPE_HOST_NUMA, 0};
        const CUdeviceptr pointer = map(create(properties, 2000 * kMiB), 2000 * kMiB);
        REQUIRE_OK(cuMemsetD32(pointer + 1999 * kMiB, 3, 1));
        REQUIRE_EQ(read_word(pointer + 1999 * kMiB), 3);
        line.say('h');
        line.wait();
    });
    ASSERT_EQ(child.hear(), 'h');
    EXPECT_EQ(device.used_bytes(), 100 * kMiB);
    child.tell();
    EXPECT_EQ(child.wait(), 0);
}

TEST(VirtualMemory, UnmappingWaitsForWhatRuns) {
    TestDevice device(1);
    Child child([](const Child::Line&) {
        use_device(0);
        const auto handle = create(on_gpu(0), 2 * kMiB);
        const CUdeviceptr pointer = map(handle, 2 * kMiB);
        launch_busy(nullptr, 20'000);
        REQUIRE_EQ(cuStreamQuery(nullptr), CUDA_ERROR_NOT_READY);
        unmap(pointer, 2 * kMiB);
        REQUIRE_OK(cuStreamQuery(nullptr));
    });
    EXPECT_EQ(child.wait(), 0);
}

}  // namespace
}  // namespace simgpu::test
