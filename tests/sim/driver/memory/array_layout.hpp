#pragma once

#include <cstdint>

#include "tests/sim/driver/base/abi.hpp"

namespace simgpu {

/// The layout of an array in device memory: rows are padded to 128 bytes, in two and three dimensions to
/// multiples of 8 rows, and the whole to 64 KiB.
struct ArrayLayout {
    std::uint64_t row_bytes;  ///< Of the elements, without padding.
    std::uint64_t rows;       ///< Of one slice, without padding.
    std::uint64_t slices;     ///< Layers, faces, or the depth.
    std::uint64_t pitch;      ///< Bytes from one row to the next.
    std::uint64_t slice_pitch;
    std::uint64_t bytes;  ///< Without the padding of the whole.
};

constexpr std::uint64_t kArrayAlignment = 65536;

/// @return CUDA_ERROR_INVALID_VALUE for what cuArray3DCreate's documentation excludes and for formats that
/// the simulator lacks (all but integers and floats), CUDA_ERROR_NOT_SUPPORTED for sparse arrays.
CUresult lay_out(const CUDA_ARRAY3D_DESCRIPTOR& descriptor, ArrayLayout& layout);

/// What the level has of the extents of level 0; layers and faces stay.
CUDA_ARRAY3D_DESCRIPTOR level_of(const CUDA_ARRAY3D_DESCRIPTOR& descriptor, unsigned int level);

/// 1 + floor(log2(largest extent)).
unsigned int most_levels(const CUDA_ARRAY3D_DESCRIPTOR& descriptor);

}  // namespace simgpu
