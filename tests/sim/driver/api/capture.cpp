// Streams can't be captured here; programs that ask are told that none is.
#include "tests/sim/driver/stream_handle.hpp"

using namespace simgpu;

namespace {

CUresult not_capturing(CUstream handle, CUstreamCaptureStatus* status) {
    Stream* stream = nullptr;
    if (const CUresult result = find_stream(handle, stream); result != CUDA_SUCCESS) return result;
    if (!status) return CUDA_ERROR_INVALID_VALUE;
    *status = CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus* status) {
    return not_capturing(handle, status);
}
SIMGPU_PTSZ(cuStreamIsCapturing, (CUstream handle, CUstreamCaptureStatus* status),
            (per_thread(handle), status))

CUresult cuStreamGetCaptureInfo(CUstream handle, CUstreamCaptureStatus* status, cuuint64_t*) {
    return not_capturing(handle, status);
}
SIMGPU_PTSZ(cuStreamGetCaptureInfo, (CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id),
            (per_thread(handle), status, id))

CUresult cuStreamGetCaptureInfo_v2(CUstream handle, CUstreamCaptureStatus* status, cuuint64_t*, CUgraph*,
                                   const CUgraphNode**, std::size_t*) {
    return not_capturing(handle, status);
}
SIMGPU_PTSZ(cuStreamGetCaptureInfo_v2,
            (CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph,
             const CUgraphNode** dependencies, std::size_t* count),
            (per_thread(handle), status, id, graph, dependencies, count))

CUresult cuStreamGetCaptureInfo_v3(CUstream handle, CUstreamCaptureStatus* status, cuuint64_t*, CUgraph*,
                                   const CUgraphNode**, const void**, std::size_t*) {
    return not_capturing(handle, status);
}
SIMGPU_PTSZ(cuStreamGetCaptureInfo_v3,
            (CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph,
             const CUgraphNode** dependencies, const void** edges, std::size_t* count),
            (per_thread(handle), status, id, graph, dependencies, edges, count))

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
    thread_local CUstreamCaptureMode current = CU_STREAM_CAPTURE_MODE_GLOBAL;
    if (!Runtime::get()) return CUDA_ERROR_NOT_INITIALIZED;
    if (!mode || *mode > CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_ERROR_INVALID_VALUE;
    std::swap(current, *mode);
    return CUDA_SUCCESS;
}

}  // extern "C"
