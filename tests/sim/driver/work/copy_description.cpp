#include "tests/sim/driver/work/copy_description.hpp"

#include <optional>

#include "tests/sim/driver/memory/array.hpp"
#include "tests/sim/driver/runtime/stream_handle.hpp"
#include "tests/sim/driver/work/copy.hpp"

namespace simgpu {

namespace {

/// One side of a copy of rows and slices.
struct Side {
    std::uint64_t base;
    std::uint64_t pitch;
    std::uint64_t slice_pitch;
};

/// Where a copy begins, in bytes, rows and slices, and how far it goes.
struct Box {
    std::uint64_t x, y, z;
    std::uint64_t width, height, depth;
};

/// Memory as a CUDA_MEMCPY3D names it.
struct Place {
    CUmemorytype type;
    const void* host;
    CUdeviceptr device;
    CUarray array;
    std::uint64_t pitch;   ///< 0: no gap between rows
    std::uint64_t height;  ///< 0: no gap between slices
};

/// @return nothing if the box is not inside the place.
std::optional<Side> side_of(const Place& place, const Box& box) {
    const std::uint64_t pitch = place.pitch ? place.pitch : box.width;
    const std::uint64_t height = place.height ? place.height : box.height;
    Side side{0, pitch, pitch * height};
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

std::uint64_t begin_of(const Side& side, const Box& box) {
    return side.base + box.z * side.slice_pitch + box.y * side.pitch + box.x;
}

}  // namespace

CUDA_MEMCPY3D deepened(const CUDA_MEMCPY2D& flat) {
    CUDA_MEMCPY3D copy{};
    copy.srcXInBytes = flat.srcXInBytes;
    copy.srcY = flat.srcY;
    copy.srcMemoryType = flat.srcMemoryType;
    copy.srcHost = flat.srcHost;
    copy.srcDevice = flat.srcDevice;
    copy.srcArray = flat.srcArray;
    copy.srcPitch = flat.srcPitch;
    copy.dstXInBytes = flat.dstXInBytes;
    copy.dstY = flat.dstY;
    copy.dstMemoryType = flat.dstMemoryType;
    copy.dstHost = flat.dstHost;
    copy.dstDevice = flat.dstDevice;
    copy.dstArray = flat.dstArray;
    copy.dstPitch = flat.dstPitch;
    copy.WidthInBytes = flat.WidthInBytes;
    copy.Height = flat.Height;
    copy.Depth = 1;
    return copy;
}

CUresult transfer_of(const CUDA_MEMCPY3D& copy, Transfer& transfer) {
    if (copy.srcLOD != 0 || copy.dstLOD != 0) return CUDA_ERROR_INVALID_VALUE;
    const Box source{copy.srcXInBytes, copy.srcY, copy.srcZ, copy.WidthInBytes, copy.Height, copy.Depth};
    const Box target{copy.dstXInBytes, copy.dstY, copy.dstZ, copy.WidthInBytes, copy.Height, copy.Depth};
    const auto from = side_of(
        {copy.srcMemoryType, copy.srcHost, copy.srcDevice, copy.srcArray, copy.srcPitch, copy.srcHeight},
        source);
    const auto to = side_of(
        {copy.dstMemoryType, copy.dstHost, copy.dstDevice, copy.dstArray, copy.dstPitch, copy.dstHeight},
        target);
    if (!from || !to) return CUDA_ERROR_INVALID_VALUE;
    transfer = {begin_of(*to, target),
                begin_of(*from, source),
                copy.WidthInBytes,
                copy.Height,
                to->pitch,
                from->pitch,
                copy.Depth,
                to->slice_pitch,
                from->slice_pitch};
    return CUDA_SUCCESS;
}

CUresult copy_described(const CUDA_MEMCPY3D* copy, CUstream handle, Completion completion) {
    Stream* stream = nullptr;
    const CUresult found = find_stream_for_work(handle, completion, stream);
    if (found != CUDA_SUCCESS) return found;
    if (!copy) return CUDA_ERROR_INVALID_VALUE;
    Transfer transfer{};
    const CUresult result = transfer_of(*copy, transfer);
    return result == CUDA_SUCCESS ? submit_copy(*stream, transfer, completion) : result;
}

}  // namespace simgpu
