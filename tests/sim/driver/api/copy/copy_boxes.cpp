#include <algorithm>
#include <cstdint>

#include "tests/sim/driver/memory/array.hpp"
#include "tests/sim/driver/runtime/stream_handle.hpp"
#include "tests/sim/driver/work/copy_description.hpp"

using namespace simgpu;

namespace {

/// One side of such a copy, in the terms of cuMemcpy3D. @return the bytes of an element: 1 for pointers.
std::size_t element_bytes(const CUmemcpy3DOperand& operand) {
    if (operand.type != CU_MEMCPY_OPERAND_TYPE_ARRAY) return 1;
    const Array* array = from_handle<Array>(operand.op.array.array);
    return array && array->descriptor.Width > 0 ? array->layout.row_bytes / array->descriptor.Width : 1;
}

CUresult describe(const CUDA_MEMCPY3D_BATCH_OP& box, CUDA_MEMCPY3D& copy) {
    const auto& extent = box.extent;
    if (extent.width == 0 || extent.height == 0 || extent.depth == 0) return CUDA_ERROR_INVALID_VALUE;
    const std::size_t element = std::max(element_bytes(box.src), element_bytes(box.dst));
    copy = {};
    copy.WidthInBytes = extent.width * element;
    copy.Height = extent.height;
    copy.Depth = extent.depth;
    if (box.src.type == CU_MEMCPY_OPERAND_TYPE_ARRAY) {
        const auto& array = box.src.op.array;
        copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
        copy.srcArray = array.array;
        copy.srcXInBytes = array.offset.x * element;
        copy.srcY = array.offset.y;
        copy.srcZ = array.offset.z;
    } else {
        const auto& pointer = box.src.op.ptr;
        copy.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
        copy.srcDevice = pointer.ptr;
        copy.srcPitch = pointer.rowLength * element;
        copy.srcHeight = pointer.layerHeight;
    }
    if (box.dst.type == CU_MEMCPY_OPERAND_TYPE_ARRAY) {
        const auto& array = box.dst.op.array;
        copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
        copy.dstArray = array.array;
        copy.dstXInBytes = array.offset.x * element;
        copy.dstY = array.offset.y;
        copy.dstZ = array.offset.z;
    } else {
        const auto& pointer = box.dst.op.ptr;
        copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
        copy.dstDevice = pointer.ptr;
        copy.dstPitch = pointer.rowLength * element;
        copy.dstHeight = pointer.layerHeight;
    }
    return CUDA_SUCCESS;
}

CUresult copy_box(const CUDA_MEMCPY3D_BATCH_OP& box, CUstream stream) {
    CUDA_MEMCPY3D copy{};
    const CUresult result = describe(box, copy);
    return result == CUDA_SUCCESS ? copy_described(&copy, stream, Completion::in_stream_order) : result;
}

/// In the order of the list; see copy_batch.cpp.
CUresult copy_all(const CUDA_MEMCPY3D_BATCH_OP* boxes, std::size_t count, std::size_t* failed,
                  unsigned long long flags, CUstream stream) {
    if (failed) *failed = SIZE_MAX;
    if (!boxes || count == 0 || flags != 0 || !stream || stream == CU_STREAM_LEGACY)
        return CUDA_ERROR_INVALID_VALUE;
    for (std::size_t i = 0; i < count; ++i) {
        const CUresult result = copy_box(boxes[i], stream);
        if (result == CUDA_SUCCESS) continue;
        if (failed) *failed = i;
        return result;
    }
    return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult cuMemcpy3DBatchAsync(std::size_t count, CUDA_MEMCPY3D_BATCH_OP* boxes, std::size_t* failed,
                              unsigned long long flags, CUstream stream) {
    return copy_all(boxes, count, failed, flags, stream);
}
SIMGPU_PTSZ(cuMemcpy3DBatchAsync,
            (std::size_t count, CUDA_MEMCPY3D_BATCH_OP* boxes, std::size_t* failed, unsigned long long flags,
             CUstream stream),
            (count, boxes, failed, flags, per_thread(stream)))

CUresult cuMemcpy3DBatchAsync_v2(std::size_t count, CUDA_MEMCPY3D_BATCH_OP* boxes, unsigned long long flags,
                                 CUstream stream) {
    return copy_all(boxes, count, nullptr, flags, stream);
}
SIMGPU_PTSZ(cuMemcpy3DBatchAsync_v2,
            (std::size_t count, CUDA_MEMCPY3D_BATCH_OP* boxes, unsigned long long flags, CUstream stream),
            (count, boxes, flags, per_thread(stream)))

CUresult cuMemcpy3DWithAttributesAsync(CUDA_MEMCPY3D_BATCH_OP* box, unsigned long long flags,
                                       CUstream stream) {
    return !box || flags != 0 ? CUDA_ERROR_INVALID_VALUE : copy_box(*box, stream);
}
SIMGPU_PTSZ(cuMemcpy3DWithAttributesAsync,
            (CUDA_MEMCPY3D_BATCH_OP * box, unsigned long long flags, CUstream stream),
            (box, flags, per_thread(stream)))

/// The attributes are about the order of accesses to the source.
CUresult cuMemcpyWithAttributesAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUmemcpyAttributes*,
                                     CUstream stream) {
    CUDA_MEMCPY3D copy{};
    copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
    copy.srcDevice = from;
    copy.dstDevice = to;
    copy.WidthInBytes = bytes;
    copy.Height = copy.Depth = 1;
    return bytes == 0 ? CUDA_ERROR_INVALID_VALUE : copy_described(&copy, stream, Completion::in_stream_order);
}
SIMGPU_PTSZ(cuMemcpyWithAttributesAsync,
            (CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUmemcpyAttributes* attributes,
             CUstream stream),
            (to, from, bytes, attributes, per_thread(stream)))

}  // extern "C"
