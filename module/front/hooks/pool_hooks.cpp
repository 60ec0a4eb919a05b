// Stream-ordered memory. The pools are charged (pools.hpp), so a call here sets aside what a pool may have to
// take from the card for it, and queries the pool afterwards.
#include "module/front/compute/gate.hpp"
#include "module/front/contexts/context_table.hpp"
#include "module/front/driver/captures.hpp"
#include "module/front/driver/hook.hpp"
#include "module/front/driver/relaxed_capture.hpp"
#include "module/front/driver/stream_key.hpp"
#include "module/front/lease/pool_frees.hpp"
#include "module/front/lease/pools.hpp"
#include "module/front/lease/reserve.hpp"
#include "module/front/memory/current_context.hpp"
#include "module/front/memory/graph_memory.hpp"
#include "module/front/memory/place.hpp"
#include "module/front/session/session.hpp"

using namespace cgpu::front;

namespace cgpu::front::real {
CGPU_REAL(cuMemAllocAsync, CUdeviceptr*, std::size_t, CUstream)
CGPU_REAL(cuMemAllocAsync_ptsz, CUdeviceptr*, std::size_t, CUstream)
CGPU_REAL(cuMemAllocFromPoolAsync, CUdeviceptr*, std::size_t, CUmemoryPool, CUstream)
CGPU_REAL(cuMemAllocFromPoolAsync_ptsz, CUdeviceptr*, std::size_t, CUmemoryPool, CUstream)
CGPU_REAL(cuMemFreeAsync, CUdeviceptr, CUstream)
CGPU_REAL(cuMemFreeAsync_ptsz, CUdeviceptr, CUstream)
CGPU_REAL(cuMemPoolCreate, CUmemoryPool*, const CUmemPoolProps*)
CGPU_REAL(cuMemPoolSetAttribute, CUmemoryPool, int, void*)
}  // namespace cgpu::front::real

namespace {

using cgpu::wire::Event;

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

/// The pool that an allocation comes from: `handle` or, if that is null, the one from which the context's
/// device allocates.
CUresult pool_for(CUmemoryPool handle, const Context& context, Pool** pool) {
    const RelaxedCapture relaxed;
    if (handle == nullptr) {
        const CUdevice device = session().device_of(static_cast<std::uint32_t>(context.gpu));
        if (const CUresult failed = real::cuDeviceGetMemPool(&handle, device); failed != kSuccess)
            return failed;
    }
    *pool = pools().find(handle);
    if (*pool == nullptr) *pool = pools().note(handle, gpu_of_pool(handle, context.gpu));
    if (*pool == nullptr) return kOutOfMemory;  // what can't be remembered can't be charged
    return (*pool)->doomed.load() ? kInvalidValue : kSuccess;
}

/// Whether the pool has enough free memory, and no free of another stream must complete first.
bool has_to_spare(const Pool& pool, const Context& context, CUstream stream, std::uint64_t bytes) {
    return Pools::spare(pool.handle.load()) >= bytes && !pool_frees().on_its_way_elsewhere(context, stream);
}

/// `stream` as the plain functions take it; `handle` null: the current device's pool.
template <class Call>
CUresult allocate(CUdeviceptr* address, std::size_t bytes, CUmemoryPool handle, CUstream stream, Call call) {
    const Place place = place_of_current("cuMemAllocAsync");
    if (place.route == Route::broken) return place.refusal;
    if (place.route == Route::pass || address == nullptr || bytes == 0) return call();
    if (is_capturing(stream)) {  // it becomes an allocation node of a graph
        graph_memory().expect();
        return call();
    }
    Pool* pool = nullptr;
    if (const CUresult failed = pool_for(handle, *place.context, &pool); failed != kSuccess) return failed;
    if (!session().isolates(pool->gpu.load())) return call();
    const Uncancelled uncancelled;
    const int gpu = pool->gpu.load();
    const PoolFrees::Taking taking(gpu);
    const auto until = ask_deadline();
    // Sets aside what the pool may take for it; if nothing else helps, waits for memory that is being freed.
    // If the lease has no room, but the pool has the memory, the call is made first: if the pool takes more
    // after all, that is detected at once.
    const bool has_room = try_reserve(gpu, bytes, until);
    bool tries = !has_room && has_to_spare(*pool, *place.context, stream, bytes);
    if (!has_room && !tries && reserve(gpu, bytes, until) != kSuccess) return kOutOfMemory;
    while (true) {
        const CUresult result = call();
        const std::uint64_t lack = pools().look(*pool, tries ? 0 : bytes);
        if (result != kSuccess || lack == 0 || ask_for(gpu, lack, until)) return result;
        real::cuMemFreeAsync(*address, stream);
        pool_frees().add(*place.context, stream);
        if (!tries) return refuse(gpu, bytes);
        if (reserve(gpu, bytes, until) != kSuccess) return kOutOfMemory;
        tries = false;
    }
}

template <class Call>
CUresult free_memory(CUstream stream, Call call) {
    if (session().route() != Route::managed || is_capturing(stream)) return call();
    const CUresult result = call();
    Context* context = result == kSuccess ? current_context() : nullptr;
    if (context != nullptr && context->gpu >= 0 && pools().any(context->gpu))
        pool_frees().add(*context, stream);
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
    return free_memory(stream, [&] { return real::cuMemFreeAsync(address, stream); });
}

CGPU_HOOK cuMemFreeAsync_ptsz(CUdeviceptr address, CUstream stream) {
    return free_memory(per_thread(stream), [&] { return real::cuMemFreeAsync_ptsz(address, stream); });
}

CGPU_HOOK cuMemPoolCreate(CUmemoryPool* handle, const CUmemPoolProps* what) {
    const auto call = [&] { return real::cuMemPoolCreate(handle, what); };
    const Route route = session().route();
    if (route == Route::broken) return kSystemNotReady;
    if (route == Route::pass || handle == nullptr || what == nullptr ||
        what->location.type != kLocationDevice)
        return call();
    const int gpu = session().gpu_of(what->location.id);
    if (gpu == kForeignGpu) {
        session().link().notice(Event::foreign_device_refused, 0, "cuMemPoolCreate");
        return kInvalidDevice;
    }
    if (what->allocation_type == kAllocationManaged && session().isolates(gpu)) {
        session().link().notice(Event::managed_memory_refused, static_cast<std::uint32_t>(gpu),
                                "cuMemPoolCreate");
        return kNotSupported;
    }
    const CUresult result = call();
    if (result == kSuccess) pools().note(*handle, gpu);
    return result;
}

CGPU_HOOK cuMemPoolDestroy(CUmemoryPool handle) {
    Pool* pool = session().route() == Route::managed ? pools().find(handle) : nullptr;
    // A device's default pool can't be destroyed: the driver reports that.
    if (pool == nullptr || gpu_of_pool(handle, kForeignGpu) != kForeignGpu)
        return real::cuMemPoolDestroy(handle);
    return pool->doomed.load() ? kInvalidValue : pools().destroy(*pool);
}

CGPU_HOOK cuMemPoolSetAttribute(CUmemoryPool handle, int attribute, void* value) {
    const CUresult result = real::cuMemPoolSetAttribute(handle, attribute, value);
    Pool* pool = session().route() == Route::managed ? pools().find(handle) : nullptr;
    if (pool != nullptr) pools().look(*pool);
    return result;
}

CGPU_HOOK cuMemPoolTrimTo(CUmemoryPool handle, std::size_t keep) {
    const CUresult result = real::cuMemPoolTrimTo(handle, keep);
    Pool* pool = session().route() == Route::managed ? pools().find(handle) : nullptr;
    if (pool != nullptr) pools().look(*pool);
    return result;
}
