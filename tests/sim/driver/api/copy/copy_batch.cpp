#include "tests/sim/driver/runtime/stream_handle.hpp"
#include "tests/sim/driver/work/copy.hpp"

using namespace simgpu;

namespace {

/// The copies of a batch may happen in any order; here they happen in the order of the list. Therefore the
/// attributes about the order of accesses to the sources have no effect.
CUresult copy_all(const CUdeviceptr* to, const CUdeviceptr* from, const std::size_t* bytes, std::size_t count,
                  std::size_t* failed, CUstream handle) {
    Stream* stream = nullptr;
    if (const CUresult result = find_stream_for_work(handle, stream); result != CUDA_SUCCESS) return result;
    if (failed) *failed = SIZE_MAX;
    if (!to || !from || !bytes || count == 0 || !handle || handle == CU_STREAM_LEGACY)
        return CUDA_ERROR_INVALID_VALUE;
    for (std::size_t i = 0; i < count; ++i) {
        const CUresult result = to[i] == 0 || from[i] == 0 ? CUDA_ERROR_INVALID_VALUE
                                                           : submit_copy(*stream, {to[i], from[i], bytes[i]},
                                                                         Completion::in_stream_order);
        if (result == CUDA_SUCCESS) continue;
        if (failed) *failed = i;
        return result;
    }
    return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult cuMemcpyBatchAsync_v2(CUdeviceptr* to, CUdeviceptr* from, std::size_t* bytes, std::size_t count,
                               CUmemcpyAttributes*, std::size_t*, std::size_t, CUstream stream) {
    return copy_all(to, from, bytes, count, nullptr, stream);
}
SIMGPU_PTSZ(cuMemcpyBatchAsync_v2,
            (CUdeviceptr * to, CUdeviceptr* from, std::size_t* bytes, std::size_t count,
             CUmemcpyAttributes* attributes, std::size_t* indices, std::size_t attribute_count,
             CUstream stream),
            (to, from, bytes, count, attributes, indices, attribute_count, per_thread(stream)))

CUresult cuMemcpyBatchAsync(CUdeviceptr* to, CUdeviceptr* from, std::size_t* bytes, std::size_t count,
                            CUmemcpyAttributes*, std::size_t*, std::size_t, std::size_t* failed,
                            CUstream stream) {
    return copy_all(to, from, bytes, count, failed, stream);
}
SIMGPU_PTSZ(cuMemcpyBatchAsync,
            (CUdeviceptr * to, CUdeviceptr* from, std::size_t* bytes, std::size_t count,
             CUmemcpyAttributes* attributes, std::size_t* indices, std::size_t attribute_count,
             std::size_t* failed, CUstream stream),
            (to, from, bytes, count, attributes, indices, attribute_count, failed, per_thread(stream)))

}  // extern "C"
