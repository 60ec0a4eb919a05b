// Waiting for the GPU, and operations that must not be inside a batch. Nothing here is ever held.
#include "module/front/compute/gate.hpp"
#include "module/front/driver/hook.hpp"
#include "module/front/driver/stream_key.hpp"

using namespace cgpu::front;

namespace cgpu::front::real {
CGPU_REAL(cuStreamSynchronize, CUstream)
CGPU_REAL(cuStreamSynchronize_ptsz, CUstream)
CGPU_REAL(cuCtxSynchronize)
CGPU_REAL(cuCtxSynchronize_v2, CUcontext)
CGPU_REAL(cuEventSynchronize, CUevent)
CGPU_REAL(cuMemcpyDtoH_v2, void*, CUdeviceptr, std::size_t)
CGPU_REAL(cuMemcpyDtoH_v2_ptds, void*, CUdeviceptr, std::size_t)
CGPU_REAL(cuStreamDestroy, CUstream)
CGPU_REAL(cuStreamDestroy_v2, CUstream)
CGPU_REAL(cuLaunchHostFunc, CUstream, void (*)(void*), void*)
CGPU_REAL(cuLaunchHostFunc_ptsz, CUstream, void (*)(void*), void*)
CGPU_REAL(cuLaunchHostFunc_v2, CUstream, void (*)(void*), void*, unsigned)
CGPU_REAL(cuLaunchHostFunc_v2_ptsz, CUstream, void (*)(void*), void*, unsigned)
CGPU_REAL(cuStreamAddCallback, CUstream, void (*)(CUstream, CUresult, void*), void*, unsigned)
CGPU_REAL(cuStreamAddCallback_ptsz, CUstream, void (*)(CUstream, CUresult, void*), void*, unsigned)
}  // namespace cgpu::front::real

CGPU_HOOK cuStreamSynchronize(CUstream stream) {
    return synchronised(Waits::stream, stream, [&] { return real::cuStreamSynchronize(stream); });
}

CGPU_HOOK cuStreamSynchronize_ptsz(CUstream stream) {
    return synchronised(Waits::stream, per_thread(stream),
                        [&] { return real::cuStreamSynchronize_ptsz(stream); });
}

CGPU_HOOK cuCtxSynchronize() {
    return synchronised(Waits::context, nullptr, [] { return real::cuCtxSynchronize(); });
}

CGPU_HOOK cuCtxSynchronize_v2(CUcontext context) {
    return synchronised(Waits::perhaps, nullptr, [&] { return real::cuCtxSynchronize_v2(context); });
}

CGPU_HOOK cuEventSynchronize(CUevent event) {
    return synchronised(Waits::perhaps, nullptr, [&] { return real::cuEventSynchronize(event); });
}

// Copies that return only when the GPU has finished all work before them: programs use them for waiting as
// often as the functions above.
CGPU_HOOK cuMemcpyDtoH_v2(void* to, CUdeviceptr from, std::size_t bytes) {
    return synchronised(bytes > 0 ? Waits::stream : Waits::perhaps, nullptr,
                        [&] { return real::cuMemcpyDtoH_v2(to, from, bytes); });
}

CGPU_HOOK cuMemcpyDtoH_v2_ptds(void* to, CUdeviceptr from, std::size_t bytes) {
    return synchronised(Waits::stream, stream_per_thread(),
                        [&] { return real::cuMemcpyDtoH_v2_ptds(to, from, bytes); });
}

CGPU_HOOK cuStreamDestroy(CUstream stream) {
    close_destroyed_stream(stream);
    return real::cuStreamDestroy(stream);
}

CGPU_HOOK cuStreamDestroy_v2(CUstream stream) {
    close_destroyed_stream(stream);
    return real::cuStreamDestroy_v2(stream);
}

CGPU_HOOK cuLaunchHostFunc(CUstream stream, void (*function)(void*), void* data) {
    close_stream(stream);
    return real::cuLaunchHostFunc(stream, function, data);
}

CGPU_HOOK cuLaunchHostFunc_ptsz(CUstream stream, void (*function)(void*), void* data) {
    close_stream(per_thread(stream));
    return real::cuLaunchHostFunc_ptsz(stream, function, data);
}

CGPU_HOOK cuLaunchHostFunc_v2(CUstream stream, void (*function)(void*), void* data, unsigned mode) {
    close_stream(stream);
    return real::cuLaunchHostFunc_v2(stream, function, data, mode);
}

CGPU_HOOK cuLaunchHostFunc_v2_ptsz(CUstream stream, void (*function)(void*), void* data, unsigned mode) {
    close_stream(per_thread(stream));
    return real::cuLaunchHostFunc_v2_ptsz(stream, function, data, mode);
}

CGPU_HOOK cuStreamAddCallback(CUstream stream, void (*callback)(CUstream, CUresult, void*), void* data,
                              unsigned flags) {
    close_stream(stream);
    return real::cuStreamAddCallback(stream, callback, data, flags);
}

CGPU_HOOK cuStreamAddCallback_ptsz(CUstream stream, void (*callback)(CUstream, CUresult, void*), void* data,
                                   unsigned flags) {
    close_stream(per_thread(stream));
    return real::cuStreamAddCallback_ptsz(stream, callback, data, flags);
}
