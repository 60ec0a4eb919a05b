#include "module/front/sizes/array_size.hpp"

#include <algorithm>
#include <bit>

#include "core/wire/limits.hpp"

namespace cgpu::front {
namespace {

// NVIDIA's GPUs store arrays in blocks of GOBs ("group of bytes", as the open drivers call them): 64 bytes of
// each of 8 rows. An array of one or two dimensions, each layer of a layered one and each face of a cube has
// blocks of up to 16 GOBs below each other; an array of three dimensions has blocks of up to 16 GOBs behind
// each other. A block has the smallest power of two that covers the array, and the array is padded to whole
// blocks. So it was measured for some 150 shapes on an H100 (docs/gpu-results.md, "sizes").
constexpr std::uint64_t kGobBytes = 64;
constexpr std::uint64_t kGobRows = 8;
constexpr std::uint64_t kMostGobs = 16;
/// To this an array's size is rounded up. What smaller ones take wasn't measured.
constexpr std::uint64_t kWhole = 64 << 10;
/// Larger than any card; returned instead of an overflow.
constexpr std::uint64_t kTooMuch = std::uint64_t{1} << 60;

std::uint64_t multiply(std::uint64_t a, std::uint64_t b) {
    std::uint64_t product = 0;
    return __builtin_mul_overflow(a, b, &product) ? kTooMuch : std::min(product, kTooMuch);
}

/// Bytes of one element by CUarray_format (cuda.h). Formats with one element per block or plane are counted
/// at the maximum for one of their pixels.
std::uint64_t element_bytes(int format, unsigned channels) {
    switch (format) {
        case 0x01:  // unsigned and signed 8 bit
        case 0x08:
            return channels;
        case 0x02:  // 16 bit integers, half
        case 0x09:
        case 0x10:
            return 2ull * channels;
        case 0x03:  // 32 bit integers, float
        case 0x0a:
        case 0x20:
            return 4ull * channels;
        case 0xb0:  // NV12: 12 bits a pixel
        case 0xa2:  // NV16: 16 bits
            return 2;
        default:
            break;
    }
    if (format >= 0x91 && format <= 0x9e) return 1;  // block-compressed: 8 bits a pixel at most
    if (format >= 0xc0 && format <= 0xcb)
        return (format - 0xc0) % 6 < 3 ? 4 : 8;  // normalised, up to 4 channels
    return 8;                                    // packed and planar video formats: 64 bits a pixel at most
}

/// `count` GOBs (or slices), padded to whole blocks.
std::uint64_t padded(std::uint64_t count) {
    return wire::align_up(count, std::min(std::bit_ceil(count), kMostGobs));
}

std::uint64_t level_bytes(std::uint64_t width, std::uint64_t height, std::uint64_t depth,
                          std::uint64_t element, bool layers) {
    const auto row = wire::align_up(multiply(width, element), kGobBytes);
    const auto gobs = wire::align_up(std::clamp<std::uint64_t>(height, 1, kTooMuch), kGobRows) / kGobRows;
    const auto slices = std::clamp<std::uint64_t>(depth, 1, kTooMuch);
    const bool three_dimensions = depth != 0 && !layers;
    const auto rows = kGobRows * (three_dimensions ? gobs : padded(gobs));
    return multiply(multiply(row, rows), three_dimensions ? padded(slices) : slices);
}

/// The driver puts as many arrays below a granule into one as fit. Each counts as its part of a granule that
/// is full of arrays of its size.
std::uint64_t with_gaps(std::uint64_t bytes) {
    return bytes == 0 || bytes >= wire::kGranule ? bytes : wire::kGranule / (wire::kGranule / bytes);
}

bool has_memory(const Array3DDescriptor& array) {
    return (array.flags & (kArraySparse | kArrayDeferredMapping)) == 0;
}

}  // namespace

std::uint64_t array_bytes(const Array3DDescriptor& array) { return mipmap_bytes(array, 1); }

std::uint64_t mipmap_bytes(const Array3DDescriptor& array, unsigned levels) {
    constexpr unsigned kLayered = 0x01;
    if (!has_memory(array)) return 0;
    const auto element = element_bytes(array.format, array.channels);
    // The depth of a layered or a cube array counts its layers, which don't shrink with the level.
    const bool layers = (array.flags & (kLayered | kArrayCubemap)) != 0;
    std::uint64_t sum = 0;
    for (unsigned level = 0; level < std::min(levels, 32u); ++level) {
        const auto shrink = [level](std::size_t size) {
            return size == 0 ? 0 : std::max<std::uint64_t>(size >> level, 1);
        };
        const auto depth = layers ? array.depth : shrink(array.depth);
        sum = std::min(sum + level_bytes(shrink(array.width), shrink(array.height), depth, element, layers),
                       kTooMuch);
    }
    return with_gaps(wire::align_up(sum, kWhole));
}

}  // namespace cgpu::front
