// Batches of boxes, decompression and prefetches.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <vector>

#include "tests/sim/test/support/support.hpp"

namespace simgpu::test {
namespace {

template <class T>
T* as_pointer(CUdeviceptr address) {
    return reinterpret_cast<T*>(address);  // NOLINT(performance-no-int-to-ptr): the driver's interface
}

CUstream make_stream() {
    CUstream stream = nullptr;
    REQUIRE_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    return stream;
}

TEST(Transfer, ABatchOfBoxesCopiesBetweenMemoryAndArrays) {
    TestDevice device(1);
    Child child([](const Child::Line&) {
        use_device(0);
        CUstream stream = make_stream();
        std::vector<unsigned short> numbers(12);
        std::iota(numbers.begin(), numbers.end(), static_cast<unsigned short>(1));
        CUdeviceptr memory = 0;
        REQUIRE_OK(cuMemAlloc(&memory, 4096));
        REQUIRE_OK(cuMemcpyHtoD(memory, numbers.data(), numbers.size() * 2));
        CUDA_ARRAY_DESCRIPTOR descriptor{4, 3, CU_AD_FORMAT_UNSIGNED_INT16, 1};
        CUarray array = nullptr;
        REQUIRE_OK(cuArrayCreate(&array, &descriptor));
        CUDA_MEMCPY3D_BATCH_OP boxes[2]{};
        boxes[0].src.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
        boxes[0].src.op.ptr.ptr = memory;
        boxes[0].src.op.ptr.rowLength = 4;
        boxes[0].dst.type = CU_MEMCPY_OPERAND_TYPE_ARRAY;
        boxes[0].dst.op.array.array = array;
        boxes[0].extent = {4, 3, 1};
        // Two elements of the array's last two rows, behind each other.
        boxes[1].src.type = CU_MEMCPY_OPERAND_TYPE_ARRAY;
        boxes[1].src.op.array.array = array;
        boxes[1].src.op.array.offset = {1, 1, 0};
        boxes[1].dst.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
        boxes[1].dst.op.ptr.ptr = memory + 1024;
        boxes[1].extent = {2, 2, 1};
        REQUIRE_EQ(cuMemcpy3DBatchAsync(2, boxes, 0, nullptr), CUDA_ERROR_INVALID_VALUE);
        REQUIRE_OK(cuMemcpy3DBatchAsync(2, boxes, 0, stream));
        REQUIRE_OK(cuStreamSynchronize(stream));
        std::vector<unsigned short> part(4);
        REQUIRE_OK(cuMemcpyDtoH(part.data(), memory + 1024, 8));
        REQUIRE_EQ(part == (std::vector<unsigned short>{6, 7, 10, 11}), true);
    });
    EXPECT_EQ(child.wait(), 0);
}

TEST(Transfer, DecompressesLz4) {
    TestDevice device(1);
    Child child([](const Child::Line&) {
        use_device(0);
        CUstream stream = make_stream();
        // "ab", then 14 bytes from two bytes before, then "xyzzy".
        const unsigned char block[] = {0x2a, 'a', 'b', 2, 0, 0x50, 'x', 'y', 'z', 'z', 'y'};
        CUdeviceptr memory = 0;
        REQUIRE_OK(cuMemAlloc(&memory, 4096));
        REQUIRE_OK(cuMemcpyHtoD(memory, block, sizeof block));
        CUmemDecompressParams parameters{};
        parameters.srcNumBytes = sizeof block;
        parameters.dstNumBytes = 64;
        parameters.dstActBytes = as_pointer<cuuint32_t>(memory + 1024);
        parameters.src = as_pointer<const void>(memory);
        parameters.dst = as_pointer<void>(memory + 2048);
        REQUIRE_EQ(cuMemBatchDecompressAsync(&parameters, 1, 0, nullptr, stream), CUDA_ERROR_INVALID_VALUE);
        parameters.algo = CU_MEM_DECOMPRESS_ALGORITHM_LZ4;
        REQUIRE_OK(cuMemBatchDecompressAsync(&parameters, 1, 0, nullptr, stream));
        REQUIRE_OK(cuStreamSynchronize(stream));
        cuuint32_t bytes = 0;
        REQUIRE_OK(cuMemcpyDtoH(&bytes, memory + 1024, sizeof bytes));
        REQUIRE_EQ(bytes, 21U);
        char text[22] = {};
        REQUIRE_OK(cuMemcpyDtoH(text, memory + 2048, 21));
        REQUIRE_EQ(std::strcmp(text, "ababababababababxyzzy"), 0);
        // Without its end the block is corrupt.
        parameters.srcNumBytes = sizeof block - 1;
        REQUIRE_OK(cuMemBatchDecompressAsync(&parameters, 1, 0, nullptr, stream));
        REQUIRE_EQ(cuStreamSynchronize(stream), CUDA_ERROR_EXTERNAL_DEVICE);
    });
    EXPECT_EQ(child.wait(), 0);
}

TEST(Transfer, PrefetchesManagedMemoryOnly) {
    TestDevice device(1);
    Child child([](const Child::Line&) {
        use_device(0);
        const CUmemLocation here{CU_MEM_LOCATION_TYPE_DEVICE, 0};
        CUdeviceptr managed = 0;
        REQUIRE_OK(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
        REQUIRE_OK(cuMemPrefetchAsync(managed, 4096, here, 0, nullptr));
        REQUIRE_EQ(cuMemPrefetchAsync(managed, 1U << 30, here, 0, nullptr), CUDA_ERROR_INVALID_VALUE);
        static char pageable[4096];
        REQUIRE_EQ(cuMemPrefetchAsync(reinterpret_cast<CUdeviceptr>(pageable), 4096, here, 0, nullptr),
                   CUDA_ERROR_INVALID_VALUE);
    });
    EXPECT_EQ(child.wait(), 0);
}

}  // namespace
}  // namespace simgpu::test
