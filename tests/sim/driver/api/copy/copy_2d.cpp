#include "tests/sim/driver/runtime/stream_handle.hpp"
#include "tests/sim/driver/work/copy_description.hpp"

using namespace simgpu;

namespace {

CUresult copy(const CUDA_MEMCPY2D* flat, CUstream stream, Completion completion) {
    if (!flat) return copy_described(nullptr, stream, completion);
    const CUDA_MEMCPY3D copy = deepened(*flat);
    return copy_described(&copy, stream, completion);
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
