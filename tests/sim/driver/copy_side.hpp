#pragma once

#include <optional>

#include "tests/sim/driver/array.hpp"

namespace simgpu {

/// One side of a copy of rows and slices.
struct CopySide {
    std::uint64_t base;
    std::uint64_t pitch;
    std::uint64_t slice_pitch;

    std::uint64_t at(std::uint64_t x, std::uint64_t y, std::uint64_t z) const {
        return base + z * slice_pitch + y * pitch + x;
    }
};

/// Where a copy begins, in bytes, rows and slices, and how far it goes.
struct CopyBox {
    std::uint64_t x, y, z;
    std::uint64_t width, height, depth;
};

/// Memory as a CUDA_MEMCPY2D or 3D names it.
struct CopyPlace {
    CUmemorytype type;
    const void* host;
    CUdeviceptr device;
    CUarray array;
    std::uint64_t pitch;   ///< 0: no gap between rows
    std::uint64_t height;  ///< 0: no gap between slices
};

/// @return nothing if the box doesn't lie in the place.
inline std::optional<CopySide> side_of(const CopyPlace& place, const CopyBox& box) {
    const std::uint64_t pitch = place.pitch ? place.pitch : box.width;
    const std::uint64_t height = place.height ? place.height : box.height;
    CopySide side{0, pitch, pitch * height};
    switch (place.type) {
        case CU_MEMORYTYPE_HOST:
            side.base = reinterpret_cast<std::uint64_t>(place.host);
            break;
        case CU_MEMORYTYPE_DEVICE:
        case CU_MEMORYTYPE_UNIFIED:
            side.base = place.device;
            break;
        case CU_MEMORYTYPE_ARRAY: {
            const Array* array = from_handle<Array>(place.array);
            if (!array) return std::nullopt;
            const ArrayLayout& layout = array->layout;
            if (box.x + box.width > layout.row_bytes || box.y + box.height > layout.rows ||
                box.z + box.depth > layout.slices) {
                return std::nullopt;
            }
            side = {array->address, layout.pitch, layout.slice_pitch};
            break;
        }
    }
    const bool rows_overlap = box.height > 1 && side.pitch < box.width;
    return side.base == 0 || rows_overlap ? std::nullopt : std::optional(side);
}

}  // namespace simgpu
