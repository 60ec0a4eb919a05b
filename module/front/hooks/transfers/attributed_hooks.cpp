// Single copies with attributes, of CUDA 13.2: what a batch of one does. Like other copies, they are gated if
// they stay within a GPU.
#include "module/front/compute/transfer.hpp"
#include "module/front/driver/hook.hpp"
#include "module/front/driver/stream_key.hpp"

using namespace cgpu::front;

namespace cgpu::front::real {
CGPU_REAL(cuMemcpyWithAttributesAsync, CUdeviceptr, CUdeviceptr, std::size_t, void*, CUstream)
CGPU_REAL(cuMemcpyWithAttributesAsync_ptsz, CUdeviceptr, CUdeviceptr, std::size_t, void*, CUstream)
CGPU_REAL(cuMemcpy3DWithAttributesAsync, CUmemcpy3DOp*, unsigned long long, CUstream)
CGPU_REAL(cuMemcpy3DWithAttributesAsync_ptsz, CUmemcpy3DOp*, unsigned long long, CUstream)
}  // namespace cgpu::front::real

namespace {

// `stream` as the plain functions take it.

template <class Call>
CUresult copy(CUdeviceptr to, CUdeviceptr from, std::uint64_t bytes, CUstream stream, Call call) {
    const bool is_work = is_large(bytes) && session().route() == Route::managed && within_a_gpu(to, from);
    return is_work ? gated_transfer(Transfer::copy, bytes, stream, call) : call();
}

template <class Call>
CUresult copy_box(const CUmemcpy3DOp* what, CUstream stream, Call call) {
    const std::uint64_t bytes = what == nullptr ? 0 : most_bytes(*what);
    const bool is_work = is_large(bytes) && session().route() == Route::managed && within_a_gpu(*what);
    return is_work ? gated_transfer(Transfer::copy, bytes, stream, call) : call();
}

}  // namespace

CGPU_HOOK cuMemcpyWithAttributesAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, void* attributes,
                                      CUstream stream) {
    return copy(to, from, bytes, stream,
                [&] { return real::cuMemcpyWithAttributesAsync(to, from, bytes, attributes, stream); });
}

CGPU_HOOK cuMemcpyWithAttributesAsync_ptsz(CUdeviceptr to, CUdeviceptr from, std::size_t bytes,
                                           void* attributes, CUstream stream) {
    return copy(to, from, bytes, per_thread(stream),
                [&] { return real::cuMemcpyWithAttributesAsync_ptsz(to, from, bytes, attributes, stream); });
}

CGPU_HOOK cuMemcpy3DWithAttributesAsync(CUmemcpy3DOp* what, unsigned long long flags, CUstream stream) {
    return copy_box(what, stream, [&] { return real::cuMemcpy3DWithAttributesAsync(what, flags, stream); });
}

CGPU_HOOK cuMemcpy3DWithAttributesAsync_ptsz(CUmemcpy3DOp* what, unsigned long long flags, CUstream stream) {
    return copy_box(what, per_thread(stream),
                    [&] { return real::cuMemcpy3DWithAttributesAsync_ptsz(what, flags, stream); });
}
