#include "tests/sim/driver/memory/array_layout.hpp"

#include <algorithm>
#include <bit>

#include "tests/sim/model/block_heap.hpp"

namespace simgpu {

namespace {

constexpr unsigned int kLayersOrFaces = CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP;
constexpr unsigned int kAllFlags = 0x1ff;
constexpr double kLongestArray = static_cast<double>(kLongestAllocation);

/// Bytes of one channel; 0: not a format that arrays are made of here.
std::uint64_t channel_bytes(CUarray_format format) {
    switch (static_cast<int>(format)) {
        case CU_AD_FORMAT_UNSIGNED_INT8:
        case CU_AD_FORMAT_SIGNED_INT8:
            return 1;
        case CU_AD_FORMAT_UNSIGNED_INT16:
        case CU_AD_FORMAT_SIGNED_INT16:
        case CU_AD_FORMAT_HALF:
            return 2;
        case CU_AD_FORMAT_UNSIGNED_INT32:
        case CU_AD_FORMAT_SIGNED_INT32:
        case CU_AD_FORMAT_FLOAT:
            return 4;
    }
    return 0;
}

bool extents_fit_flags(const CUDA_ARRAY3D_DESCRIPTOR& array) {
    const bool layered = (array.Flags & CUDA_ARRAY3D_LAYERED) != 0;
    if (array.Width == 0) return false;
    if ((array.Flags & CUDA_ARRAY3D_CUBEMAP) != 0) {
        const bool whole_cubes = layered ? array.Depth % 6 == 0 : array.Depth == 6;
        return array.Width == array.Height && array.Depth > 0 && whole_cubes;
    }
    if (layered) return array.Depth > 0;
    if ((array.Flags & CUDA_ARRAY3D_TEXTURE_GATHER) != 0) return array.Height > 0 && array.Depth == 0;
    return array.Height > 0 || array.Depth == 0;
}

/// The smallest power of two from `least` to `most` that covers the extent; else `most`.
std::uint64_t block(std::uint64_t extent, std::uint64_t least, std::uint64_t most) {
    return std::clamp(std::bit_ceil(extent), least, most);
}

}  // namespace

CUresult lay_out(const CUDA_ARRAY3D_DESCRIPTOR& array, ArrayLayout& layout) {
    const std::uint64_t element = channel_bytes(array.Format) * array.NumChannels;
    const bool channels_fit = array.NumChannels == 1 || array.NumChannels == 2 || array.NumChannels == 4;
    if (element == 0 || !channels_fit || (array.Flags & ~kAllFlags) != 0 || !extents_fit_flags(array)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if ((array.Flags & CUDA_ARRAY3D_SPARSE) != 0) return CUDA_ERROR_NOT_SUPPORTED;
    layout.rows = std::max<std::uint64_t>(array.Height, 1);
    layout.slices = std::max<std::uint64_t>(array.Depth, 1);
    const double about = static_cast<double>(array.Width) * static_cast<double>(element) *
                         static_cast<double>(layout.rows) * static_cast<double>(layout.slices);
    if (about > kLongestArray) return CUDA_ERROR_INVALID_VALUE;
    layout.row_bytes = array.Width * element;
    // As measured on an H100: see the README.
    const bool three_dimensions = array.Depth > 0 && (array.Flags & kLayersOrFaces) == 0;
    layout.pitch = round_up(layout.row_bytes, 64);
    layout.slice_pitch =
        layout.pitch * round_up(layout.rows, three_dimensions ? 8 : block(layout.rows, 8, 128));
    layout.bytes = layout.slice_pitch *
                   (three_dimensions ? round_up(layout.slices, block(layout.slices, 1, 16)) : layout.slices);
    return CUDA_SUCCESS;
}

CUDA_ARRAY3D_DESCRIPTOR level_of(const CUDA_ARRAY3D_DESCRIPTOR& array, unsigned int level) {
    const auto shrunk = [level](std::size_t extent) {
        return extent == 0 ? 0 : std::max<std::size_t>(extent >> level, 1);
    };
    CUDA_ARRAY3D_DESCRIPTOR small = array;
    small.Width = shrunk(array.Width);
    small.Height = shrunk(array.Height);
    if ((array.Flags & kLayersOrFaces) == 0) small.Depth = shrunk(array.Depth);
    return small;
}

unsigned int most_levels(const CUDA_ARRAY3D_DESCRIPTOR& array) {
    const bool three_dimensions = (array.Flags & kLayersOrFaces) == 0;
    const std::size_t depth = three_dimensions ? array.Depth : 0;
    return static_cast<unsigned int>(std::bit_width(std::max({array.Width, array.Height, depth})));
}

}  // namespace simgpu
