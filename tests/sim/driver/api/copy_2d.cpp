#include "tests/sim/driver/copy_side.hpp"
#include "tests/sim/driver/stream_handle.hpp"
#include "tests/sim/driver/transfer.hpp"

using namespace simgpu;

namespace {

CUresult copy(const CUDA_MEMCPY2D* copy, CUstream handle, Completion completion) {
    Stream* stream = nullptr;
    if (const CUresult result = find_stream(handle, stream); result != CUDA_SUCCESS) return result;
    if (!copy) return CUDA_ERROR_INVALID_VALUE;
    const auto from =
        side_of({copy->srcMemoryType, copy->srcHost, copy->srcDevice, copy->srcArray, copy->srcPitch, 0},
                {copy->srcXInBytes, copy->srcY, 0, copy->WidthInBytes, copy->Height, 1});
    const auto to =
        side_of({copy->dstMemoryType, copy->dstHost, copy->dstDevice, copy->dstArray, copy->dstPitch, 0},
                {copy->dstXInBytes, copy->dstY, 0, copy->WidthInBytes, copy->Height, 1});
    if (!from || !to) return CUDA_ERROR_INVALID_VALUE;
    const Transfer transfer{to->at(copy->dstXInBytes, copy->dstY, 0),
                            from->at(copy->srcXInBytes, copy->srcY, 0),
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
