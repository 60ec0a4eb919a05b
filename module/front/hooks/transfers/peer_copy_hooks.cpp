// Copies between contexts. Both may be on one GPU, and then the copy is work like any other within a GPU.
#include "module/front/compute/transfer.hpp"
#include "module/front/driver/hook.hpp"
#include "module/front/driver/stream_key.hpp"

using namespace cgpu::front;

namespace cgpu::front::real {
#define CGPU_PEERS CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, std::size_t
CGPU_REAL(cuMemcpyPeer, CGPU_PEERS)
CGPU_REAL(cuMemcpyPeer_ptds, CGPU_PEERS)
CGPU_REAL(cuMemcpyPeerAsync, CGPU_PEERS, CUstream)
CGPU_REAL(cuMemcpyPeerAsync_ptsz, CGPU_PEERS, CUstream)
CGPU_REAL(cuMemcpy3DPeer, const CUmemcpy3D*)
CGPU_REAL(cuMemcpy3DPeer_ptds, const CUmemcpy3D*)
CGPU_REAL(cuMemcpy3DPeerAsync, const CUmemcpy3D*, CUstream)
CGPU_REAL(cuMemcpy3DPeerAsync_ptsz, const CUmemcpy3D*, CUstream)
}  // namespace cgpu::front::real

namespace {

// `stream` as the plain functions take it. Only the driver knows where addresses are.

template <class Call>
CUresult copy(CUdeviceptr to, CUdeviceptr from, std::uint64_t bytes, CUstream stream, Call call) {
    const bool is_work = is_large(bytes) && session().route() == Route::managed && within_a_gpu(to, from);
    return is_work ? gated_transfer(Transfer::copy, bytes, stream, call) : call();
}

template <class Call>
CUresult copy_box(const CUmemcpy3D* what, CUstream stream, Call call) {
    const std::uint64_t bytes = what == nullptr ? 0 : what->width_bytes * what->height * what->depth;
    const bool is_work =
        is_large(bytes) && session().route() == Route::managed && within_one_of_the_gpus(*what);
    return is_work ? gated_transfer(Transfer::copy, bytes, stream, call) : call();
}

}  // namespace

CGPU_HOOK cuMemcpyPeer(CUdeviceptr to, CUcontext there, CUdeviceptr from, CUcontext here, std::size_t bytes) {
    return copy(to, from, bytes, nullptr, [&] { return real::cuMemcpyPeer(to, there, from, here, bytes); });
}

CGPU_HOOK cuMemcpyPeer_ptds(CUdeviceptr to, CUcontext there, CUdeviceptr from, CUcontext here,
                            std::size_t bytes) {
    return copy(to, from, bytes, stream_per_thread(),
                [&] { return real::cuMemcpyPeer_ptds(to, there, from, here, bytes); });
}

CGPU_HOOK cuMemcpyPeerAsync(CUdeviceptr to, CUcontext there, CUdeviceptr from, CUcontext here,
                            std::size_t bytes, CUstream stream) {
    return copy(to, from, bytes, stream,
                [&] { return real::cuMemcpyPeerAsync(to, there, from, here, bytes, stream); });
}

CGPU_HOOK cuMemcpyPeerAsync_ptsz(CUdeviceptr to, CUcontext there, CUdeviceptr from, CUcontext here,
                                 std::size_t bytes, CUstream stream) {
    return copy(to, from, bytes, per_thread(stream),
                [&] { return real::cuMemcpyPeerAsync_ptsz(to, there, from, here, bytes, stream); });
}

CGPU_HOOK cuMemcpy3DPeer(const CUmemcpy3D* what) {
    return copy_box(what, nullptr, [&] { return real::cuMemcpy3DPeer(what); });
}

CGPU_HOOK cuMemcpy3DPeer_ptds(const CUmemcpy3D* what) {
    return copy_box(what, stream_per_thread(), [&] { return real::cuMemcpy3DPeer_ptds(what); });
}

CGPU_HOOK cuMemcpy3DPeerAsync(const CUmemcpy3D* what, CUstream stream) {
    return copy_box(what, stream, [&] { return real::cuMemcpy3DPeerAsync(what, stream); });
}

CGPU_HOOK cuMemcpy3DPeerAsync_ptsz(const CUmemcpy3D* what, CUstream stream) {
    return copy_box(what, per_thread(stream), [&] { return real::cuMemcpy3DPeerAsync_ptsz(what, stream); });
}
