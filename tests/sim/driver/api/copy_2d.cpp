#include <optional>

#include "tests/sim/driver/array.hpp"
#include "tests/sim/driver/stream_handle.hpp"
#include "tests/sim/driver/transfer.hpp"

using namespace simgpu;

namespace {

struct Side {
    std::uint64_t base;
    std::size_t pitch;
};

/// Where one side of the copy begins. @return nothing if it isn't usable.
std::optional<Side> side_of(CUmemorytype type, const void* host, CUdeviceptr device, CUarray handle,
                            std::size_t pitch, std::size_t width) {
    switch (type) {
        case CU_MEMORYTYPE_HOST:
            return Side{reinterpret_cast<std::uint64_t>(host), pitch ? pitch : width};
        case CU_MEMORYTYPE_DEVICE:
        case CU_MEMORYTYPE_UNIFIED:
            return Side{device, pitch ? pitch : width};
        case CU_MEMORYTYPE_ARRAY: {
            const Array* array = from_handle<Array>(handle);
            if (!array) return std::nullopt;
            return Side{array->address, array->pitch};
        }
    }
    return std::nullopt;
}

CUresult copy(const CUDA_MEMCPY2D* copy, CUstream handle, Completion completion) {
    Stream* stream = nullptr;
    if (const CUresult result = find_stream_for_work(handle, stream); result != CUDA_SUCCESS) return result;
    if (completion == Completion::wait) {
        if (const CUresult result = check_wait(*stream); result != CUDA_SUCCESS) return result;
    }
    if (!copy) return CUDA_ERROR_INVALID_VALUE;
    const auto from = side_of(copy->srcMemoryType, copy->srcHost, copy->srcDevice, copy->srcArray,
                              copy->srcPitch, copy->WidthInBytes);
    const auto to = side_of(copy->dstMemoryType, copy->dstHost, copy->dstDevice, copy->dstArray,
                            copy->dstPitch, copy->WidthInBytes);
    if (!from || !to || from->base == 0 || to->base == 0) return CUDA_ERROR_INVALID_VALUE;
    if (copy->Height > 1 && (from->pitch < copy->WidthInBytes || to->pitch < copy->WidthInBytes)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    const Transfer transfer{to->base + copy->dstY * to->pitch + copy->dstXInBytes,
                            from->base + copy->srcY * from->pitch + copy->srcXInBytes,
                            copy->WidthInBytes,
                            copy->Height,
                            to->pitch,
                            from->pitch};
    return submit_copy(*stream, transfer, completion);
}

}  // namespace

extern "C" {

CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D* description) {
    return copy(description, CU_STREAM_LEGACY, Completion::wait);
}
CUresult cuMemcpy2D_v2_ptds(const CUDA_MEMCPY2D* description) {
    return copy(description, CU_STREAM_PER_THREAD, Completion::wait);
}
CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D* description) {
    return copy(description, CU_STREAM_LEGACY, Completion::wait);
}
CUresult cuMemcpy2DUnaligned_v2_ptds(const CUDA_MEMCPY2D* description) {
    return copy(description, CU_STREAM_PER_THREAD, Completion::wait);
}
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* description, CUstream stream) {
    return copy(description, stream, Completion::in_stream_order);
}
SIMGPU_PTSZ(cuMemcpy2DAsync_v2, (const CUDA_MEMCPY2D* description, CUstream stream),
            (description, per_thread(stream)))

}  // extern "C"
