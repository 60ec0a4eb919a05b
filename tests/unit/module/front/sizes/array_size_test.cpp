#include "module/front/sizes/array_size.hpp"

#include <gtest/gtest.h>

namespace cgpu::front {
namespace {

constexpr std::uint64_t kKiB = 1024;
constexpr int kBytes = 0x01;  // CU_AD_FORMAT_UNSIGNED_INT8
constexpr int kFloats = 0x20;
constexpr unsigned kLayered = 0x01;

std::uint64_t bytes(std::size_t width, std::size_t height, std::size_t depth, int format = kBytes,
                    unsigned flags = 0) {
    return array_bytes({width, height, depth, format, 1, flags});
}

TEST(ArraySize, IsNoLessThanTheDriversTilesTake) {
    EXPECT_EQ(bytes(100, 0, 0), 64 * kKiB) << "a line";
    EXPECT_EQ(bytes(65536, 1, 0), 512 * kKiB) << "one row is a tile of eight";
    EXPECT_EQ(bytes(65536, 8, 0), 512 * kKiB);
    EXPECT_EQ(bytes(65536, 9, 0), 1024 * kKiB);
    EXPECT_EQ(bytes(65537, 8, 0), (512 + 64) * kKiB)
        << "rows of 128 bytes: 8 times 128 more, in units of 64 KiB";
    EXPECT_EQ(bytes(16384, 8, 0, kFloats), 512 * kKiB);
    EXPECT_EQ(bytes(65536, 8, 3), 1536 * kKiB);
    EXPECT_EQ(bytes(65536, 0, 3, kBytes, kLayered), 192 * kKiB) << "three lines";
}

TEST(ArraySize, OfALevelsSum) {
    EXPECT_EQ(mipmap_bytes({65536, 16, 0, kBytes, 1, 0}, 2), (1024 + 256) * kKiB);
    EXPECT_EQ(mipmap_bytes({65536, 16, 0, kBytes, 1, 0}, 1), 1024 * kKiB);
}

TEST(ArraySize, NonsenseIsTooMuchAndNotNothing) {
    EXPECT_GT(bytes(~std::size_t{0}, ~std::size_t{0}, ~std::size_t{0}), std::uint64_t{1} << 50);
    EXPECT_GT(bytes(1, ~std::size_t{0}, 0), std::uint64_t{1} << 50);
    EXPECT_GT(bytes(~std::size_t{0}, 1, 0), std::uint64_t{1} << 50);
}

}  // namespace
}  // namespace cgpu::front
