// Stream-ordered memory, always from the devices' default pools (other pools are refused, refused_hooks.cpp).
#include "module/front/captures.hpp"
#include "module/front/charge.hpp"
#include "module/front/context_count.hpp"
#include "module/front/gate.hpp"
#include "module/front/hook.hpp"
#include "module/front/pool_frees.hpp"

using namespace cgpu::front;
using cgpu::module::Holding;

namespace cgpu::front::real {
CGPU_REAL(cuMemAllocAsync, CUdeviceptr*, std::size_t, CUstream)
CGPU_REAL(cuMemAllocAsync_ptsz, CUdeviceptr*, std::size_t, CUstream)
CGPU_REAL(cuMemAllocFromPoolAsync, CUdeviceptr*, std::size_t, CUmemoryPool, CUstream)
CGPU_REAL(cuMemAllocFromPoolAsync_ptsz, CUdeviceptr*, std::size_t, CUmemoryPool, CUstream)
CGPU_REAL(cuMemFreeAsync, CUdeviceptr, CUstream)
CGPU_REAL(cuMemFreeAsync_ptsz, CUdeviceptr, CUstream)
CGPU_REAL(cuMemPoolSetAttribute, CUmemoryPool, int, void*)
}  // namespace cgpu::front::real

namespace {

/// The GPU whose default pool this is, or `otherwise`.
int gpu_of_pool(CUmemoryPool pool, int otherwise) {
    for (std::uint32_t gpu = 0; gpu < session().gpu_count(); ++gpu) {
        CUmemoryPool own = nullptr;
        const CUdevice device = session().device_of(gpu);
        if (device < 0 || real::cuDeviceGetDefaultMemPool(&own, device) != kSuccess) continue;
        if (own == pool) return static_cast<int>(gpu);
    }
    return otherwise;
}

/// `stream` as the plain functions take it; `pool` null: the current device's.
template <class Call>
CUresult allocate(CUdeviceptr* address, std::size_t bytes, CUmemoryPool pool, CUstream stream, Call call) {
    const Place place = place_of_current("cuMemAllocAsync");
    if (place.route == Route::broken) return place.refusal;
    if (place.route == Route::pass || address == nullptr || bytes == 0) return call();
    if (is_capturing(stream)) {  // it would become an allocation node of a graph
        session().link().notice(cgpu::wire::Event::unsupported_allocator_refused,
                                static_cast<std::uint32_t>(place.context->gpu),
                                "cuMemAllocAsync in a capture");
        return kNotSupported;
    }
    const int gpu = pool != nullptr ? gpu_of_pool(pool, place.context->gpu) : place.context->gpu;
    if (!session().isolates(gpu)) return call();
    pool_frees().settle_stream(*place.context, stream);
    // Memory of a pool belongs to the device: it outlives the context it was asked for in, but not the last
    // one.
    return charged(gpu, bytes, Holding::address, any_context_key(gpu), [&](Made& made) {
        const CUresult result = call();
        if (result == kSuccess) made.key = *address;
        return result;
    });
}

template <class Call>
CUresult free_memory(CUdeviceptr address, CUstream stream, Call call) {
    if (session().route() != Route::managed || is_capturing(stream)) return call();
    std::uint32_t gpu = 0;
    std::uint64_t bytes = 0;
    const bool ours = session().engine().find(Holding::address, address, &gpu, &bytes);
    const CUresult result = call();
    if (result != kSuccess || !ours) return result;
    if (Context* context = contexts().current(); context != nullptr && context->gpu >= 0) {
        pool_frees().add(*context, stream, address);
    } else {
        released(Holding::address, address);
    }
    return result;
}

}  // namespace

CGPU_HOOK cuMemAllocAsync(CUdeviceptr* address, std::size_t bytes, CUstream stream) {
    return allocate(address, bytes, nullptr, stream,
                    [&] { return real::cuMemAllocAsync(address, bytes, stream); });
}

CGPU_HOOK cuMemAllocAsync_ptsz(CUdeviceptr* address, std::size_t bytes, CUstream stream) {
    return allocate(address, bytes, nullptr, per_thread(stream),
                    [&] { return real::cuMemAllocAsync_ptsz(address, bytes, stream); });
}

CGPU_HOOK cuMemAllocFromPoolAsync(CUdeviceptr* address, std::size_t bytes, CUmemoryPool pool,
                                  CUstream stream) {
    return allocate(address, bytes, pool, stream,
                    [&] { return real::cuMemAllocFromPoolAsync(address, bytes, pool, stream); });
}

CGPU_HOOK cuMemAllocFromPoolAsync_ptsz(CUdeviceptr* address, std::size_t bytes, CUmemoryPool pool,
                                       CUstream stream) {
    return allocate(address, bytes, pool, per_thread(stream),
                    [&] { return real::cuMemAllocFromPoolAsync_ptsz(address, bytes, pool, stream); });
}

CGPU_HOOK cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
    return free_memory(address, stream, [&] { return real::cuMemFreeAsync(address, stream); });
}

CGPU_HOOK cuMemFreeAsync_ptsz(CUdeviceptr address, CUstream stream) {
    return free_memory(address, per_thread(stream),
                       [&] { return real::cuMemFreeAsync_ptsz(address, stream); });
}

CGPU_HOOK cuMemPoolSetAttribute(CUmemoryPool pool, int attribute, void* value) {
    const bool threshold = attribute == kPoolReleaseThreshold && value != nullptr;
    if (!threshold || session().route() != Route::managed || !session().isolates(gpu_of_pool(pool, 0))) {
        return real::cuMemPoolSetAttribute(pool, attribute, value);
    }
    // What a pool keeps for later is taken from the card but charged to nobody, so it may keep nothing.
    std::uint64_t nothing = 0;
    return real::cuMemPoolSetAttribute(pool, attribute, &nothing);
}
