#include "module/front/sizes/array_size.hpp"

#include <gtest/gtest.h>

#include "core/wire/limits.hpp"

namespace cgpu::front {
namespace {

constexpr std::uint64_t kKiB = 1024;
constexpr int kBytes = 0x01;  // CU_AD_FORMAT_UNSIGNED_INT8
constexpr int kHalves = 0x10;
constexpr int kFloats = 0x20;
constexpr unsigned kLayered = 0x01;

std::uint64_t bytes(std::size_t width, std::size_t height, std::size_t depth, int format = kBytes,
                    unsigned flags = 0) {
    return array_bytes({width, height, depth, format, 1, flags});
}

/// A shape, and the granules of 2 MiB that an array of it takes on an H100 with driver 580.159
/// (docs/gpu-results.md).
struct Measured {
    std::size_t width, height, depth;
    int format;
    unsigned channels, flags, levels;
    std::uint64_t granules;
};

constexpr unsigned kCube = 0x04;
constexpr unsigned kSurface = 0x02;

const Measured kMeasured[] = {
    // A row of 131072 elements of 16 bytes has 2 MiB.
    {131072, 1, 0, kFloats, 4, 0, 1, 8},
    {131072, 8, 0, kFloats, 4, 0, 1, 8},
    {131072, 9, 0, kFloats, 4, 0, 1, 16},
    {131072, 17, 0, kFloats, 4, 0, 1, 32},
    {131072, 33, 0, kFloats, 4, 0, 1, 64},
    {131072, 65, 0, kFloats, 4, 0, 1, 128},
    {131072, 128, 0, kFloats, 4, 0, 1, 128},
    {131072, 129, 0, kFloats, 4, 0, 1, 256},
    {131072, 257, 0, kFloats, 4, 0, 1, 384},
    {131072, 500, 0, kFloats, 4, 0, 1, 512},
    {131072, 129, 0, kFloats, 4, kSurface, 1, 256},
    {131072, 0, 0, kFloats, 4, 0, 1, 8},
    {100000, 0, 0, kFloats, 4, 0, 1, 7},
    {65536, 0, 0, kFloats, 4, 0, 1, 4},
    // 65536 rows: a byte more in each is 64 KiB.
    {1, 65536, 0, kBytes, 1, 0, 1, 2},
    {64, 65536, 0, kBytes, 1, 0, 1, 2},
    {65, 65536, 0, kBytes, 1, 0, 1, 4},
    {129, 65536, 0, kBytes, 1, 0, 1, 6},
    {513, 65536, 0, kBytes, 1, 0, 1, 18},
    {1920, 1080, 0, kBytes, 4, 0, 1, 5},
    {3840, 2160, 0, kBytes, 4, 0, 1, 16},
    {1025, 1025, 0, kFloats, 4, 0, 1, 10},
    {320, 240, 0, kFloats, 4, 0, 1, 1},
    {360, 360, 0, kFloats, 4, 0, 1, 2},
    // Three dimensions; eight rows of 16384 elements of 16 bytes are a granule.
    {16384, 1, 1, kFloats, 4, 0, 1, 1},
    {16384, 8, 2, kFloats, 4, 0, 1, 2},
    {16384, 8, 3, kFloats, 4, 0, 1, 4},
    {16384, 8, 5, kFloats, 4, 0, 1, 8},
    {16384, 8, 9, kFloats, 4, 0, 1, 16},
    {16384, 8, 17, kFloats, 4, 0, 1, 32},
    {16384, 8, 33, kFloats, 4, 0, 1, 48},
    {16384, 17, 2, kFloats, 4, 0, 1, 6},
    {16384, 33, 5, kFloats, 4, 0, 1, 40},
    {16384, 65, 9, kFloats, 4, 0, 1, 144},
    {16384, 257, 1, kFloats, 4, 0, 1, 33},
    {200, 200, 200, kFloats, 1, 0, 1, 17},
    {33, 300, 300, kFloats, 1, 0, 1, 9},
    {513, 257, 129, kFloats, 1, 0, 1, 39},
    // Layers and faces.
    {32768, 0, 1, kFloats, 4, kLayered, 1, 2},
    {32768, 0, 9, kFloats, 4, kLayered, 1, 18},
    {32768, 17, 3, kFloats, 4, kLayered, 1, 24},
    {32768, 129, 3, kFloats, 4, kLayered, 1, 192},
    {1000, 700, 7, kBytes, 4, kLayered, 1, 11},
    {1000, 1000, 6, kFloats, 4, kCube, 1, 47},
    // Levels.
    {32768, 8, 0, kFloats, 4, 0, 16, 5},
    {32768, 65, 0, kFloats, 4, 0, 3, 37},
    {32768, 100, 0, kFloats, 4, 0, 7, 43},
    {32768, 1000, 0, kFloats, 4, 0, 10, 342},
    {32768, 0, 0, kFloats, 4, 0, 2, 3},
    {32768, 0, 0, kFloats, 4, 0, 16, 5},
    {1000, 600, 50, kBytes, 4, 0, 10, 85},
    {2048, 2048, 64, kHalves, 4, 0, 12, 1171},
    {500, 300, 200, kFloats, 1, 0, 9, 72},
    {100, 100, 100, kFloats, 1, 0, 7, 3},
};

TEST(ArraySize, IsWhatWasMeasuredOnACard) {
    for (const Measured& each : kMeasured) {
        const auto size = mipmap_bytes(
            {each.width, each.height, each.depth, each.format, each.channels, each.flags}, each.levels);
        EXPECT_EQ(wire::align_up(size) / wire::kGranule, each.granules)
            << each.width << " x " << each.height << " x " << each.depth << ", " << each.levels << " levels";
    }
}

TEST(ArraySize, OfSmallOnesIsThePartOfAGranuleThatEachTakes) {
    EXPECT_EQ(bytes(100, 0, 0), 64 * kKiB) << "a line";
    EXPECT_EQ(bytes(65536, 1, 0), 512 * kKiB) << "one row is a tile of eight";
    EXPECT_EQ(bytes(65536, 8, 0), 512 * kKiB);
    EXPECT_EQ(bytes(65537, 8, 0), 2048 * kKiB / 3) << "three fit into a granule";
    EXPECT_EQ(bytes(100'000, 0, 0), 1024 * kKiB) << "two fit";
    EXPECT_EQ(bytes(640, 480, 0, kFloats), 2048 * kKiB) << "no second one fits";
}

TEST(ArraySize, NonsenseIsTooMuchAndNotNothing) {
    EXPECT_GT(bytes(~std::size_t{0}, ~std::size_t{0}, ~std::size_t{0}), std::uint64_t{1} << 50);
    EXPECT_GT(bytes(1, ~std::size_t{0}, 0), std::uint64_t{1} << 50);
    EXPECT_GT(bytes(~std::size_t{0}, 1, 0), std::uint64_t{1} << 50);
}

}  // namespace
}  // namespace cgpu::front
