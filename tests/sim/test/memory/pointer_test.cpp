// What the driver reports about a pointer, for all the ways of allocating one.
#include <gtest/gtest.h>

#include "tests/sim/test/support/virtual_memory.hpp"

namespace simgpu::test {
namespace {

template <typename T>
T attribute(CUpointer_attribute which, CUdeviceptr pointer) {
    T value{};
    REQUIRE_OK(cuPointerGetAttribute(&value, which, pointer));
    return value;
}

struct Expected {
    CUdeviceptr begin;
    std::size_t size;
    bool legacy_ipc = false;
    bool managed = false;
};

/// Asked somewhere in the middle.
void expect(const Expected& expected) {
    const CUdeviceptr pointer = expected.begin + expected.size / 2;
    REQUIRE_EQ(attribute<int>(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, pointer), CU_MEMORYTYPE_DEVICE);
    REQUIRE_EQ(attribute<int>(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, pointer), 0);
    REQUIRE_EQ(attribute<int>(CU_POINTER_ATTRIBUTE_MAPPED, pointer), 1);
    REQUIRE_EQ(attribute<int>(CU_POINTER_ATTRIBUTE_IS_MANAGED, pointer), expected.managed);
    REQUIRE_EQ(attribute<int>(CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, pointer), expected.legacy_ipc);
    REQUIRE_EQ(attribute<CUdeviceptr>(CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, pointer), expected.begin);
    REQUIRE_EQ(attribute<std::size_t>(CU_POINTER_ATTRIBUTE_RANGE_SIZE, pointer), expected.size);
    REQUIRE_EQ(attribute<int>(CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, pointer),
               CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    CUdeviceptr begin = 0;
    std::size_t size = 0;
    REQUIRE_OK(cuMemGetAddressRange(&begin, &size, pointer));
    REQUIRE_EQ(begin, expected.begin);
    REQUIRE_EQ(size, expected.size);
}

TEST(Pointer, TellsOfEveryKindOfAllocation) {
    TestDevice device(1);
    Child child([](const Child::Line&) {
        use_device(0);
        CUdeviceptr plain = 0;
        CUdeviceptr managed = 0;
        CUdeviceptr pooled = 0;
        REQUIRE_OK(cuMemAlloc(&plain, 1000));
        REQUIRE_OK(cuMemAllocManaged(&managed, 1000, CU_MEM_ATTACH_GLOBAL));
        REQUIRE_OK(cuMemAllocAsync(&pooled, 3 * kMiB, nullptr));
        expect({plain, 1000, true, false});
        expect({managed, 1000, false, true});
        expect({pooled, 3 * kMiB});
        const CUdeviceptr mapped = map(create(on_gpu(0), 4 * kMiB), 4 * kMiB);
        expect({mapped, 4 * kMiB});
        REQUIRE_EQ(attribute<CUcontext>(CU_POINTER_ATTRIBUTE_CONTEXT, mapped) == nullptr, true);
        REQUIRE_EQ(attribute<CUcontext>(CU_POINTER_ATTRIBUTE_CONTEXT, plain) == nullptr, false);
        CUdeviceptr begin = 0;
        REQUIRE_EQ(cuMemGetAddressRange(&begin, nullptr, plain + 1000), CUDA_ERROR_NOT_FOUND);
    });
    EXPECT_EQ(child.wait(), 0);
}

TEST(Pointer, TellsReservationsFromMappings) {
    TestDevice device(1);
    Child child([](const Child::Line&) {
        use_device(0);
        const CUdeviceptr range = reserve(16 * kMiB);
        const auto handle = create(on_gpu(0, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR), 4 * kMiB);
        const CUdeviceptr mapped = range + 8 * kMiB;
        REQUIRE_OK(cuMemMap(mapped, 4 * kMiB, 0, handle, 0));
        REQUIRE_EQ(attribute<CUdeviceptr>(CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, mapped), range);
        REQUIRE_EQ(attribute<std::size_t>(CU_POINTER_ATTRIBUTE_RANGE_SIZE, mapped), 16 * kMiB);
        REQUIRE_EQ(attribute<CUdeviceptr>(CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, mapped + 1), mapped);
        REQUIRE_EQ(attribute<std::size_t>(CU_POINTER_ATTRIBUTE_MAPPING_SIZE, mapped + 1), 4 * kMiB);
        REQUIRE_EQ(attribute<unsigned long long>(CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, mapped),
                   CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
        REQUIRE_EQ(attribute<int>(CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, mapped), CU_MEM_ACCESS_FLAGS_PROT_NONE);
        CUdeviceptr pointer = 0;
        REQUIRE_EQ(cuPointerGetAttribute(&pointer, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, mapped),
                   CUDA_ERROR_INVALID_VALUE);
        REQUIRE_EQ(attribute<int>(CU_POINTER_ATTRIBUTE_MAPPED, mapped), 1);
        REQUIRE_EQ(attribute<int>(CU_POINTER_ATTRIBUTE_MAPPED, range), 0);
        int type = 0;
        REQUIRE_EQ(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, range),
                   CUDA_ERROR_INVALID_VALUE);
        CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_RANGE_SIZE};
        std::size_t size = 0;
        void* answers[] = {&type, &size};
        REQUIRE_OK(cuPointerGetAttributes(2, which, answers, mapped));
        REQUIRE_EQ(type, CU_MEMORYTYPE_DEVICE);
        REQUIRE_EQ(size, 16 * kMiB);
    });
    EXPECT_EQ(child.wait(), 0);
}

}  // namespace
}  // namespace simgpu::test
