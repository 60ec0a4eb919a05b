#include "tests/sim/driver/copy_side.hpp"
#include "tests/sim/driver/stream_handle.hpp"
#include "tests/sim/driver/transfer.hpp"

using namespace simgpu;

namespace {

/// One transfer a slice; they lie behind one another in the stream.
CUresult copy(const CUDA_MEMCPY3D* copy, CUstream handle, Completion completion) {
    Stream* stream = nullptr;
    if (const CUresult result = find_stream(handle, stream); result != CUDA_SUCCESS) return result;
    if (!copy || copy->srcLOD != 0 || copy->dstLOD != 0) return CUDA_ERROR_INVALID_VALUE;
    const CopyBox source{copy->srcXInBytes,  copy->srcY,   copy->srcZ,
                         copy->WidthInBytes, copy->Height, copy->Depth};
    const CopyBox target{copy->dstXInBytes,  copy->dstY,   copy->dstZ,
                         copy->WidthInBytes, copy->Height, copy->Depth};
    const auto from = side_of({copy->srcMemoryType, copy->srcHost, copy->srcDevice, copy->srcArray,
                               copy->srcPitch, copy->srcHeight},
                              source);
    const auto to = side_of({copy->dstMemoryType, copy->dstHost, copy->dstDevice, copy->dstArray,
                             copy->dstPitch, copy->dstHeight},
                            target);
    if (!from || !to) return CUDA_ERROR_INVALID_VALUE;
    for (std::uint64_t z = 0; z < copy->Depth; ++z) {
        const Transfer slice{to->at(target.x, target.y, target.z + z),
                             from->at(source.x, source.y, source.z + z),
                             copy->WidthInBytes,
                             copy->Height,
                             to->pitch,
                             from->pitch};
        const Completion last = z + 1 == copy->Depth ? completion : Completion::in_stream_order;
        const CUresult result = submit_copy(*stream, slice, last);
        if (result != CUDA_SUCCESS) return result;
    }
    return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D* description) {
    return copy(description, CU_STREAM_LEGACY, Completion::wait);
}
CUresult cuMemcpy3D_v2_ptds(const CUDA_MEMCPY3D* description) {
    return copy(description, CU_STREAM_PER_THREAD, Completion::wait);
}
CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* description, CUstream stream) {
    return copy(description, stream, Completion::in_stream_order);
}
SIMGPU_PTSZ(cuMemcpy3DAsync_v2, (const CUDA_MEMCPY3D* description, CUstream stream),
            (description, per_thread(stream)))

CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER* description) {
    return copy(description, CU_STREAM_LEGACY, Completion::wait);
}
CUresult cuMemcpy3DPeer_ptds(const CUDA_MEMCPY3D_PEER* description) {
    return copy(description, CU_STREAM_PER_THREAD, Completion::wait);
}
CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER* description, CUstream stream) {
    return copy(description, stream, Completion::in_stream_order);
}
SIMGPU_PTSZ(cuMemcpy3DPeerAsync, (const CUDA_MEMCPY3D_PEER* description, CUstream stream),
            (description, per_thread(stream)))

}  // extern "C"
