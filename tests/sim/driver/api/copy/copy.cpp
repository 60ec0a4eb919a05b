#include "tests/sim/driver/work/copy.hpp"
#include "tests/sim/driver/runtime/stream_handle.hpp"

using namespace simgpu;

namespace {

/// Which of the two addresses the driver must know.
enum class Checked { none, to, from, both };

CUresult copy(CUstream handle, std::uint64_t to, std::uint64_t from, std::size_t bytes, Checked checked,
              Completion completion) {
    Stream* stream = nullptr;
    const CUresult found = find_stream_for_work(handle, completion, stream);
    if (found != CUDA_SUCCESS) return found;
    if (bytes == 0) return CUDA_SUCCESS;
    const Memory& memory = stream->context.runtime().memory();
    const bool check_to = checked == Checked::to || checked == Checked::both;
    const bool check_from = checked == Checked::from || checked == Checked::both;
    if (to == 0 || from == 0) return CUDA_ERROR_INVALID_VALUE;
    if (check_to && !memory.covers(to, bytes)) return CUDA_ERROR_INVALID_VALUE;
    if (check_from && !memory.covers(from, bytes)) return CUDA_ERROR_INVALID_VALUE;
    return submit_copy(*stream, Transfer{to, from, bytes}, completion);
}

std::uint64_t address(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

}  // namespace

extern "C" {

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, std::size_t bytes) {
    return copy(CU_STREAM_LEGACY, to, address(from), bytes, Checked::to, Completion::wait);
}
CUresult cuMemcpyHtoD_v2_ptds(CUdeviceptr to, const void* from, std::size_t bytes) {
    return copy(CU_STREAM_PER_THREAD, to, address(from), bytes, Checked::to, Completion::wait);
}
CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, std::size_t bytes) {
    return copy(CU_STREAM_LEGACY, address(to), from, bytes, Checked::from, Completion::wait);
}
CUresult cuMemcpyDtoH_v2_ptds(void* to, CUdeviceptr from, std::size_t bytes) {
    return copy(CU_STREAM_PER_THREAD, address(to), from, bytes, Checked::from, Completion::wait);
}
CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
    // Between two places of device memory CUDA does not wait.
    return copy(CU_STREAM_LEGACY, to, from, bytes, Checked::both, Completion::in_stream_order);
}
CUresult cuMemcpyDtoD_v2_ptds(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
    return copy(CU_STREAM_PER_THREAD, to, from, bytes, Checked::both, Completion::in_stream_order);
}
CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
    return copy(CU_STREAM_LEGACY, to, from, bytes, Checked::none, Completion::wait);
}
CUresult cuMemcpy_ptds(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
    return copy(CU_STREAM_PER_THREAD, to, from, bytes, Checked::none, Completion::wait);
}
CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, std::size_t bytes) {
    return copy(CU_STREAM_LEGACY, to, from, bytes, Checked::both, Completion::in_stream_order);
}
CUresult cuMemcpyPeer_ptds(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, std::size_t bytes) {
    return copy(CU_STREAM_PER_THREAD, to, from, bytes, Checked::both, Completion::in_stream_order);
}

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
    return copy(stream, to, from, bytes, Checked::none, Completion::in_stream_order);
}
SIMGPU_PTSZ(cuMemcpyAsync, (CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream),
            (to, from, bytes, per_thread(stream)))

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream) {
    return copy(stream, to, address(from), bytes, Checked::to, Completion::in_stream_order);
}
SIMGPU_PTSZ(cuMemcpyHtoDAsync_v2, (CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream),
            (to, from, bytes, per_thread(stream)))

CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
    return copy(stream, address(to), from, bytes, Checked::from, Completion::in_stream_order);
}
SIMGPU_PTSZ(cuMemcpyDtoHAsync_v2, (void* to, CUdeviceptr from, std::size_t bytes, CUstream stream),
            (to, from, bytes, per_thread(stream)))

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
    return copy(stream, to, from, bytes, Checked::both, Completion::in_stream_order);
}
SIMGPU_PTSZ(cuMemcpyDtoDAsync_v2, (CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream),
            (to, from, bytes, per_thread(stream)))

CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, std::size_t bytes,
                           CUstream stream) {
    return copy(stream, to, from, bytes, Checked::both, Completion::in_stream_order);
}
SIMGPU_PTSZ(cuMemcpyPeerAsync,
            (CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
             std::size_t bytes, CUstream stream),
            (to, to_context, from, from_context, bytes, per_thread(stream)))

}  // extern "C"
