#include "tests/sim/driver/runtime/stream_handle.hpp"
#include "tests/sim/driver/work/copy_description.hpp"

using namespace simgpu;

extern "C" {

CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D* description) {
    return copy_described(description, CU_STREAM_LEGACY, Completion::wait);
}
CUresult cuMemcpy3D_v2_ptds(const CUDA_MEMCPY3D* description) {
    return copy_described(description, CU_STREAM_PER_THREAD, Completion::wait);
}
CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* description, CUstream stream) {
    return copy_described(description, stream, Completion::in_stream_order);
}
SIMGPU_PTSZ(cuMemcpy3DAsync_v2, (const CUDA_MEMCPY3D* description, CUstream stream),
            (description, per_thread(stream)))

CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER* description) {
    return copy_described(description, CU_STREAM_LEGACY, Completion::wait);
}
CUresult cuMemcpy3DPeer_ptds(const CUDA_MEMCPY3D_PEER* description) {
    return copy_described(description, CU_STREAM_PER_THREAD, Completion::wait);
}
CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER* description, CUstream stream) {
    return copy_described(description, stream, Completion::in_stream_order);
}
SIMGPU_PTSZ(cuMemcpy3DPeerAsync, (const CUDA_MEMCPY3D_PEER* description, CUstream stream),
            (description, per_thread(stream)))

}  // extern "C"
