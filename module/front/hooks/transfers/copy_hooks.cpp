// Copies within a GPU. Copies from and to the host, and between GPUs, are done by the copy engines and pass.
#include "module/front/compute/transfer.hpp"
#include "module/front/driver/hook.hpp"
#include "module/front/driver/stream_key.hpp"

using namespace cgpu::front;

namespace cgpu::front::real {
CGPU_REAL(cuMemcpyDtoD_v2, CUdeviceptr, CUdeviceptr, std::size_t)
CGPU_REAL(cuMemcpyDtoD_v2_ptds, CUdeviceptr, CUdeviceptr, std::size_t)
CGPU_REAL(cuMemcpyDtoDAsync_v2, CUdeviceptr, CUdeviceptr, std::size_t, CUstream)
CGPU_REAL(cuMemcpyDtoDAsync_v2_ptsz, CUdeviceptr, CUdeviceptr, std::size_t, CUstream)
CGPU_REAL(cuMemcpy, CUdeviceptr, CUdeviceptr, std::size_t)
CGPU_REAL(cuMemcpy_ptds, CUdeviceptr, CUdeviceptr, std::size_t)
CGPU_REAL(cuMemcpyAsync, CUdeviceptr, CUdeviceptr, std::size_t, CUstream)
CGPU_REAL(cuMemcpyAsync_ptsz, CUdeviceptr, CUdeviceptr, std::size_t, CUstream)
CGPU_REAL(cuMemcpyAtoA_v2, CUarray, std::size_t, CUarray, std::size_t, std::size_t)
CGPU_REAL(cuMemcpyAtoA_v2_ptds, CUarray, std::size_t, CUarray, std::size_t, std::size_t)
CGPU_REAL(cuMemcpyDtoA_v2, CUarray, std::size_t, CUdeviceptr, std::size_t)
CGPU_REAL(cuMemcpyDtoA_v2_ptds, CUarray, std::size_t, CUdeviceptr, std::size_t)
CGPU_REAL(cuMemcpyAtoD_v2, CUdeviceptr, CUarray, std::size_t, std::size_t)
CGPU_REAL(cuMemcpyAtoD_v2_ptds, CUdeviceptr, CUarray, std::size_t, std::size_t)
CGPU_REAL(cuMemcpy2D_v2, const CUmemcpy2D*)
CGPU_REAL(cuMemcpy2D_v2_ptds, const CUmemcpy2D*)
CGPU_REAL(cuMemcpy2DAsync_v2, const CUmemcpy2D*, CUstream)
CGPU_REAL(cuMemcpy2DAsync_v2_ptsz, const CUmemcpy2D*, CUstream)
CGPU_REAL(cuMemcpy2DUnaligned_v2, const CUmemcpy2D*)
CGPU_REAL(cuMemcpy2DUnaligned_v2_ptds, const CUmemcpy2D*)
CGPU_REAL(cuMemcpy3D_v2, const CUmemcpy3D*)
CGPU_REAL(cuMemcpy3D_v2_ptds, const CUmemcpy3D*)
CGPU_REAL(cuMemcpy3DAsync_v2, const CUmemcpy3D*, CUstream)
CGPU_REAL(cuMemcpy3DAsync_v2_ptsz, const CUmemcpy3D*, CUstream)
}  // namespace cgpu::front::real

namespace {

// `stream` as the plain functions take it.

template <class Call>
CUresult copy(std::uint64_t bytes, CUstream stream, Call call) {
    return gated_transfer(Transfer::copy, bytes, stream, call);
}

/// Only the driver knows where addresses are.
bool is_work(CUdeviceptr to, CUdeviceptr from, std::uint64_t bytes) {
    return is_large(bytes) && session().route() == Route::managed && within_a_gpu(to, from);
}

template <class Call>
CUresult copy_anywhere(CUdeviceptr to, CUdeviceptr from, std::uint64_t bytes, CUstream stream, Call call) {
    return is_work(to, from, bytes) ? copy(bytes, stream, call) : call();
}

/// Such a copy, but one from or to the host waits for the GPU.
template <class Call>
CUresult copy_in_order(CUdeviceptr to, CUdeviceptr from, std::uint64_t bytes, CUstream stream, Call call) {
    if (is_work(to, from, bytes)) return copy(bytes, stream, call);
    return synchronised(stream == nullptr ? Waits::perhaps : Waits::stream, stream, call);
}

std::uint64_t bytes_of(const CUmemcpy2D& what) { return what.width_bytes * what.height; }
std::uint64_t bytes_of(const CUmemcpy3D& what) { return what.width_bytes * what.height * what.depth; }

template <class Box, class Call>
CUresult copy_box(const Box* what, CUstream stream, Call call) {
    if (what == nullptr || !is_large(bytes_of(*what)) || session().route() != Route::managed ||
        !within_a_gpu(*what))
        return call();
    return copy(bytes_of(*what), stream, call);
}

}  // namespace

CGPU_HOOK cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
    return copy(bytes, nullptr, [&] { return real::cuMemcpyDtoD_v2(to, from, bytes); });
}

CGPU_HOOK cuMemcpyDtoD_v2_ptds(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
    return copy(bytes, stream_per_thread(), [&] { return real::cuMemcpyDtoD_v2_ptds(to, from, bytes); });
}

CGPU_HOOK cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
    return copy(bytes, stream, [&] { return real::cuMemcpyDtoDAsync_v2(to, from, bytes, stream); });
}

CGPU_HOOK cuMemcpyDtoDAsync_v2_ptsz(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
    return copy(bytes, per_thread(stream),
                [&] { return real::cuMemcpyDtoDAsync_v2_ptsz(to, from, bytes, stream); });
}

CGPU_HOOK cuMemcpy(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
    return copy_in_order(to, from, bytes, nullptr, [&] { return real::cuMemcpy(to, from, bytes); });
}

CGPU_HOOK cuMemcpy_ptds(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
    return copy_in_order(to, from, bytes, stream_per_thread(),
                         [&] { return real::cuMemcpy_ptds(to, from, bytes); });
}

CGPU_HOOK cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
    return copy_anywhere(to, from, bytes, stream,
                         [&] { return real::cuMemcpyAsync(to, from, bytes, stream); });
}

CGPU_HOOK cuMemcpyAsync_ptsz(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
    return copy_anywhere(to, from, bytes, per_thread(stream),
                         [&] { return real::cuMemcpyAsync_ptsz(to, from, bytes, stream); });
}

CGPU_HOOK cuMemcpyAtoA_v2(CUarray to, std::size_t at, CUarray from, std::size_t start, std::size_t bytes) {
    return copy(bytes, nullptr, [&] { return real::cuMemcpyAtoA_v2(to, at, from, start, bytes); });
}

CGPU_HOOK cuMemcpyAtoA_v2_ptds(CUarray to, std::size_t at, CUarray from, std::size_t start,
                               std::size_t bytes) {
    return copy(bytes, stream_per_thread(),
                [&] { return real::cuMemcpyAtoA_v2_ptds(to, at, from, start, bytes); });
}

CGPU_HOOK cuMemcpyDtoA_v2(CUarray to, std::size_t at, CUdeviceptr from, std::size_t bytes) {
    return copy(bytes, nullptr, [&] { return real::cuMemcpyDtoA_v2(to, at, from, bytes); });
}

CGPU_HOOK cuMemcpyDtoA_v2_ptds(CUarray to, std::size_t at, CUdeviceptr from, std::size_t bytes) {
    return copy(bytes, stream_per_thread(), [&] { return real::cuMemcpyDtoA_v2_ptds(to, at, from, bytes); });
}

CGPU_HOOK cuMemcpyAtoD_v2(CUdeviceptr to, CUarray from, std::size_t start, std::size_t bytes) {
    return copy(bytes, nullptr, [&] { return real::cuMemcpyAtoD_v2(to, from, start, bytes); });
}

CGPU_HOOK cuMemcpyAtoD_v2_ptds(CUdeviceptr to, CUarray from, std::size_t start, std::size_t bytes) {
    return copy(bytes, stream_per_thread(),
                [&] { return real::cuMemcpyAtoD_v2_ptds(to, from, start, bytes); });
}

CGPU_HOOK cuMemcpy2D_v2(const CUmemcpy2D* what) {
    return copy_box(what, nullptr, [&] { return real::cuMemcpy2D_v2(what); });
}

CGPU_HOOK cuMemcpy2D_v2_ptds(const CUmemcpy2D* what) {
    return copy_box(what, stream_per_thread(), [&] { return real::cuMemcpy2D_v2_ptds(what); });
}

CGPU_HOOK cuMemcpy2DAsync_v2(const CUmemcpy2D* what, CUstream stream) {
    return copy_box(what, stream, [&] { return real::cuMemcpy2DAsync_v2(what, stream); });
}

CGPU_HOOK cuMemcpy2DAsync_v2_ptsz(const CUmemcpy2D* what, CUstream stream) {
    return copy_box(what, per_thread(stream), [&] { return real::cuMemcpy2DAsync_v2_ptsz(what, stream); });
}

CGPU_HOOK cuMemcpy2DUnaligned_v2(const CUmemcpy2D* what) {
    return copy_box(what, nullptr, [&] { return real::cuMemcpy2DUnaligned_v2(what); });
}

CGPU_HOOK cuMemcpy2DUnaligned_v2_ptds(const CUmemcpy2D* what) {
    return copy_box(what, stream_per_thread(), [&] { return real::cuMemcpy2DUnaligned_v2_ptds(what); });
}

CGPU_HOOK cuMemcpy3D_v2(const CUmemcpy3D* what) {
    return copy_box(what, nullptr, [&] { return real::cuMemcpy3D_v2(what); });
}

CGPU_HOOK cuMemcpy3D_v2_ptds(const CUmemcpy3D* what) {
    return copy_box(what, stream_per_thread(), [&] { return real::cuMemcpy3D_v2_ptds(what); });
}

CGPU_HOOK cuMemcpy3DAsync_v2(const CUmemcpy3D* what, CUstream stream) {
    return copy_box(what, stream, [&] { return real::cuMemcpy3DAsync_v2(what, stream); });
}

CGPU_HOOK cuMemcpy3DAsync_v2_ptsz(const CUmemcpy3D* what, CUstream stream) {
    return copy_box(what, per_thread(stream), [&] { return real::cuMemcpy3DAsync_v2_ptsz(what, stream); });
}
