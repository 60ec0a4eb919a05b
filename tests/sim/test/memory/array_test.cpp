// CUDA arrays: what they take of the card, and copies from and to them.
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "tests/sim/test/support/support.hpp"

namespace simgpu::test {
namespace {

using Extents = CUDA_ARRAY3D_DESCRIPTOR;

Extents bytes_of(std::size_t width, std::size_t height, std::size_t depth, unsigned int flags = 0) {
    return {width, height, depth, CU_AD_FORMAT_UNSIGNED_INT8, 1, flags};
}

/// Rows are padded to 64 bytes, their number and that of slices to blocks; the card gives blocks of 2 MiB.
TEST(Array, TakesItsPaddedSize) {
    struct Case {
        Extents extents;
        std::uint64_t mib;
    };
    const std::vector<Case> cases = {
        {bytes_of(kMiB, 0, 0), 8},                             // 1D: 8 rows
        {bytes_of(4096, 1025, 0), 6},                          // 2D: 1152 rows
        {bytes_of(100, 100, 1000), 14},                        // 3D: 104 rows of 128 bytes, 1008 slices
        {bytes_of(kMiB / 8, 0, 9, CUDA_ARRAY3D_LAYERED), 10},  // 1D layers
        {bytes_of(1024, 1024, 5, CUDA_ARRAY3D_LAYERED), 6},    // 2D layers
        {bytes_of(1024, 1024, 6, CUDA_ARRAY3D_CUBEMAP), 6},    // the six faces
        {bytes_of(1024, 1024, 12, CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED), 12},
        {bytes_of(64 * kMiB, 0, 0, CUDA_ARRAY3D_DEFERRED_MAPPING), 0},
    };
    TestDevice device(1);
    Child child([&](const Child::Line& line) {
        use_device(0);
        for (const Case& one : cases) {
            CUarray array = nullptr;
            REQUIRE_OK(cuArray3DCreate(&array, &one.extents));
            Extents told{};
            REQUIRE_OK(cuArray3DGetDescriptor(&told, array));
            REQUIRE_EQ(told.Depth, one.extents.Depth);
            REQUIRE_EQ(told.Flags, one.extents.Flags);
            line.say('a');
            line.wait();
            REQUIRE_OK(cuArrayDestroy(array));
        }
        line.say('e');
        line.wait();
    });
    for (const Case& one : cases) {
        ASSERT_EQ(child.hear(), 'a');
        EXPECT_EQ(device.use(child.pid()).allocated_bytes, one.mib * kMiB)
            << one.extents.Width << ' ' << one.extents.Height << ' ' << one.extents.Depth;
        child.tell();
    }
    ASSERT_EQ(child.hear(), 'e');
    EXPECT_EQ(device.use(child.pid()).allocated_bytes, 0U);
}

TEST(Array, WhatCudaExcludesIsRefused) {
    TestDevice device(1);
    Child child([](const Child::Line&) {
        use_device(0);
        CUarray array = nullptr;
        const auto refused = [&](const Extents& extents) { return cuArray3DCreate(&array, &extents); };
        REQUIRE_EQ(refused(bytes_of(0, 4, 0)), CUDA_ERROR_INVALID_VALUE);
        REQUIRE_EQ(refused(bytes_of(4, 0, 4)), CUDA_ERROR_INVALID_VALUE);
        REQUIRE_EQ(refused(bytes_of(4, 4, 0, CUDA_ARRAY3D_LAYERED)), CUDA_ERROR_INVALID_VALUE);
        REQUIRE_EQ(refused(bytes_of(4, 4, 5, CUDA_ARRAY3D_CUBEMAP)), CUDA_ERROR_INVALID_VALUE);
        REQUIRE_EQ(refused(bytes_of(4, 5, 6, CUDA_ARRAY3D_CUBEMAP)), CUDA_ERROR_INVALID_VALUE);
        REQUIRE_EQ(refused(bytes_of(4, 4, 4, CUDA_ARRAY3D_TEXTURE_GATHER)), CUDA_ERROR_INVALID_VALUE);
        REQUIRE_EQ(refused(bytes_of(4, 4, 0, CUDA_ARRAY3D_SPARSE)), CUDA_ERROR_NOT_SUPPORTED);
        REQUIRE_EQ(refused({4, 4, 0, CU_AD_FORMAT_FLOAT, 3, 0}), CUDA_ERROR_INVALID_VALUE);
        REQUIRE_EQ(refused(bytes_of(SIZE_MAX, SIZE_MAX, SIZE_MAX)), CUDA_ERROR_INVALID_VALUE);
        REQUIRE_EQ(refused(bytes_of(kMiB, 1000, 0)), CUDA_ERROR_OUT_OF_MEMORY);
        CUDA_ARRAY_MEMORY_REQUIREMENTS requirements{};
        REQUIRE_OK(refused(bytes_of(4, 4, 0)));
        REQUIRE_EQ(cuArrayGetMemoryRequirements(&requirements, array, 0), CUDA_ERROR_INVALID_VALUE);
        REQUIRE_OK(refused(bytes_of(3 * kMiB, 0, 0, CUDA_ARRAY3D_DEFERRED_MAPPING)));
        REQUIRE_OK(cuArrayGetMemoryRequirements(&requirements, array, 0));
        REQUIRE_EQ(requirements.size, 24 * kMiB);
        REQUIRE_EQ(requirements.alignment, 65536);
    });
    EXPECT_EQ(child.wait(), 0);
}

TEST(Array, LevelsOfAMipmappedOneAddUp) {
    TestDevice device(1);
    Child child([](const Child::Line& line) {
        use_device(0);
        CUmipmappedArray array = nullptr;
        const Extents extents{2048, 2048, 0, CU_AD_FORMAT_FLOAT, 1, 0};
        REQUIRE_OK(cuMipmappedArrayCreate(&array, &extents, 100));
        CUarray level = nullptr;
        Extents told{};
        REQUIRE_OK(cuMipmappedArrayGetLevel(&level, array, 11));
        REQUIRE_OK(cuArray3DGetDescriptor(&told, level));
        REQUIRE_EQ(told.Width, 1);
        REQUIRE_EQ(cuMipmappedArrayGetLevel(&level, array, 12), CUDA_ERROR_INVALID_VALUE);
        // Neighbouring levels don't share bytes.
        std::vector<std::vector<float>> written;
        for (unsigned int l = 0; l < 12; ++l) {
            const std::size_t side = std::size_t{2048} >> l;
            written.emplace_back(side * side, static_cast<float>(l + 1));
            REQUIRE_OK(cuMipmappedArrayGetLevel(&level, array, l));
            REQUIRE_OK(cuMemcpyHtoA(level, 0, written[l].data(), side * side * sizeof(float)));
        }
        for (unsigned int l = 0; l < 12; ++l) {
            std::vector<float> read(written[l].size());
            REQUIRE_OK(cuMipmappedArrayGetLevel(&level, array, l));
            REQUIRE_OK(cuMemcpyAtoH(read.data(), level, 0, read.size() * sizeof(float)));
            REQUIRE_EQ(read == written[l], true);
        }
        REQUIRE_EQ(cuArrayDestroy(level), CUDA_ERROR_INVALID_HANDLE);
        line.say('m');
        line.wait();
        REQUIRE_OK(cuMipmappedArrayDestroy(array));
        line.say('d');
        line.wait();
    });
    ASSERT_EQ(child.hear(), 'm');
    EXPECT_EQ(device.use(child.pid()).allocated_bytes, 22 * kMiB);  // 16 + 4 + 1 + 1/4 + ... MiB
    child.tell();
    ASSERT_EQ(child.hear(), 'd');
    EXPECT_EQ(device.use(child.pid()).allocated_bytes, 0U);
}

TEST(Array, BoxesAreCopiedInAndOut) {
    TestDevice device(1);
    Child child([](const Child::Line&) {
        use_device(0);
        CUarray array = nullptr;
        const Extents extents = bytes_of(20, 10, 5);
        REQUIRE_OK(cuArray3DCreate(&array, &extents));
        std::vector<unsigned char> all(std::size_t{20} * 10 * 5);
        std::iota(all.begin(), all.end(), static_cast<unsigned char>(0));
        CUDA_MEMCPY3D copy{};
        copy.srcMemoryType = CU_MEMORYTYPE_HOST;
        copy.srcHost = all.data();
        copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
        copy.dstArray = array;
        copy.WidthInBytes = 20;
        copy.Height = 10;
        copy.Depth = 5;
        REQUIRE_OK(cuMemcpy3D(&copy));
        CUdeviceptr memory = 0;
        REQUIRE_OK(cuMemAlloc(&memory, 4096));
        // A box of 4 x 3 x 2 from (5, 6, 2) on, into rows of 32 bytes and slices of 8 rows.
        CUDA_MEMCPY3D box{};
        box.srcMemoryType = CU_MEMORYTYPE_ARRAY;
        box.srcArray = array;
        box.srcXInBytes = 5;
        box.srcY = 6;
        box.srcZ = 2;
        box.dstMemoryType = CU_MEMORYTYPE_DEVICE;
        box.dstDevice = memory;
        box.dstPitch = 32;
        box.dstHeight = 8;
        box.WidthInBytes = 4;
        box.Height = 3;
        box.Depth = 2;
        REQUIRE_OK(cuMemcpy3DAsync(&box, nullptr));
        std::vector<unsigned char> got(4096);
        REQUIRE_OK(cuMemcpyDtoH(got.data(), memory, got.size()));
        for (std::size_t z = 0; z < 2; ++z) {
            for (std::size_t y = 0; y < 3; ++y) {
                for (std::size_t x = 0; x < 4; ++x) {
                    REQUIRE_EQ(got[(z * 8 + y) * 32 + x], all[((z + 2) * 10 + y + 6) * 20 + x + 5]);
                }
            }
        }
        box.srcZ = 4;
        REQUIRE_EQ(cuMemcpy3D(&box), CUDA_ERROR_INVALID_VALUE);
        unsigned char row[30];
        REQUIRE_OK(cuMemcpyAtoH(row, array, 195, 30));
        for (std::size_t i = 0; i < 30; ++i) REQUIRE_EQ(row[i], all[195 + i]);
        REQUIRE_EQ(cuMemcpyAtoH(row, array, 990, 30), CUDA_ERROR_INVALID_VALUE);
    });
    EXPECT_EQ(child.wait(), 0);
}

}  // namespace
}  // namespace simgpu::test
