// What is refused on GPUs that isolate memory: managed memory, prefetches to a GPU, and checkpoints of
// processes. Without managed memory a prefetch can only move the host's pageable memory, where the system
// lets the GPU read it (HMM, ATS), and no limit is asked for the pages on the GPU. The memory that a
// checkpoint gives back is taken again at the restore, inside the driver, where no limit is asked either.
// Memory that is bound to a logical endpoint (CUDA 13.3) would outlive its charge, and work that is captured
// for a graphics API (13.2) would run past the gate.
#include <algorithm>

#include "module/front/contexts/context_table.hpp"
#include "module/front/driver/hook.hpp"
#include "module/front/memory/current_context.hpp"
#include "module/front/session/session.hpp"

using namespace cgpu::front;

namespace cgpu::front::real {
CGPU_REAL(cuMemAllocManaged, CUdeviceptr*, std::size_t, unsigned)
CGPU_REAL(cuMemGetDefaultMemPool, CUmemoryPool*, const CUmemLocation*, int)
CGPU_REAL(cuMemGetMemPool, CUmemoryPool*, const CUmemLocation*, int)
CGPU_REAL(cuCheckpointProcessCheckpoint, int, void*)
CGPU_REAL(cuCheckpointProcessRestore, int, void*)
CGPU_REAL(cuMemPrefetchAsync, CUdeviceptr, std::size_t, CUdevice, CUstream)
CGPU_REAL(cuMemPrefetchAsync_ptsz, CUdeviceptr, std::size_t, CUdevice, CUstream)
CGPU_REAL(cuMemPrefetchAsync_v2, CUdeviceptr, std::size_t, CUmemLocation, unsigned, CUstream)
CGPU_REAL(cuMemPrefetchAsync_v2_ptsz, CUdeviceptr, std::size_t, CUmemLocation, unsigned, CUstream)
CGPU_REAL(cuLogicalEndpointBindAddr, unsigned, CUdevice, std::uint64_t, void*, std::uint64_t,
          unsigned long long)
CGPU_REAL(cuLogicalEndpointBindMem, unsigned, CUdevice, std::uint64_t, CUmemGenericAllocationHandle,
          std::uint64_t, std::uint64_t, unsigned long long)
CGPU_REAL(cuStreamBeginCaptureToCig, CUstream, void*)
CGPU_REAL(cuStreamBeginCaptureToCig_ptsz, CUstream, void*)
#define CGPU_PREFETCHES CUdeviceptr*, std::size_t*, std::size_t, CUmemLocation*, std::size_t*, std::size_t
CGPU_REAL(cuMemPrefetchBatchAsync, CGPU_PREFETCHES, unsigned long long, CUstream)
CGPU_REAL(cuMemPrefetchBatchAsync_ptsz, CGPU_PREFETCHES, unsigned long long, CUstream)
CGPU_REAL(cuMemDiscardAndPrefetchBatchAsync, CGPU_PREFETCHES, unsigned long long, CUstream)
CGPU_REAL(cuMemDiscardAndPrefetchBatchAsync_ptsz, CGPU_PREFETCHES, unsigned long long, CUstream)
}  // namespace cgpu::front::real

namespace {

/// The first GPU of the instance that isolates memory.
int first_isolating_gpu() {
    for (std::uint32_t gpu = 0; gpu < session().gpu_count(); ++gpu) {
        if (session().isolates(static_cast<int>(gpu))) return static_cast<int>(gpu);
    }
    return kForeignGpu;
}

/// The GPU of the current context, or the first GPU of the instance that isolates memory: functions that need
/// no context are refused, too, if memory is isolated on any GPU.
int isolating_gpu() {
    if (const Context* context = current_context(); context != nullptr && context->gpu >= 0) {
        return session().isolates(context->gpu) ? context->gpu.load() : kForeignGpu;
    }
    return first_isolating_gpu();
}

/// `where` returns the GPU that isolates memory; kForeignGpu: none.
template <class Call>
CUresult refused_when_isolated(const char* what, Call call, int (*where)() = isolating_gpu) {
    const Route route = session().route();
    if (route == Route::broken) return kSystemNotReady;
    const int gpu = route == Route::managed ? where() : kForeignGpu;
    if (gpu == kForeignGpu) return call();
    session().link().notice(cgpu::wire::Event::managed_memory_refused, static_cast<std::uint32_t>(gpu), what);
    return kNotSupported;
}

/// Prefetches to the host only give back.
template <class Call>
CUresult prefetch(const char* what, bool to_gpu, Call call) {
    return to_gpu ? refused_when_isolated(what, call, first_isolating_gpu) : call();
}

bool any_on_gpu(const CUmemLocation* locations, std::size_t count) {
    return locations != nullptr && std::any_of(locations, locations + count, [](const CUmemLocation& each) {
               return each.type == kLocationDevice;
           });
}

}  // namespace

CGPU_HOOK cuMemAllocManaged(CUdeviceptr* address, std::size_t bytes, unsigned flags) {
    return refused_when_isolated("cuMemAllocManaged",
                                 [&] { return real::cuMemAllocManaged(address, bytes, flags); });
}

CGPU_HOOK cuMemGetDefaultMemPool(CUmemoryPool* pool, const CUmemLocation* location, int type) {
    const auto call = [&] { return real::cuMemGetDefaultMemPool(pool, location, type); };
    if (type != kAllocationManaged) return call();
    return refused_when_isolated("cuMemGetDefaultMemPool", call);
}

CGPU_HOOK cuMemGetMemPool(CUmemoryPool* pool, const CUmemLocation* location, int type) {
    const auto call = [&] { return real::cuMemGetMemPool(pool, location, type); };
    if (type != kAllocationManaged) return call();
    return refused_when_isolated("cuMemGetMemPool", call);
}

// A process is checkpointed on all its GPUs, whatever context is current here. Its lock and unlock take no
// memory.
CGPU_HOOK cuCheckpointProcessCheckpoint(int pid, void* arguments) {
    return refused_when_isolated(
        "cuCheckpointProcessCheckpoint", [&] { return real::cuCheckpointProcessCheckpoint(pid, arguments); },
        first_isolating_gpu);
}

CGPU_HOOK cuCheckpointProcessRestore(int pid, void* arguments) {
    return refused_when_isolated(
        "cuCheckpointProcessRestore", [&] { return real::cuCheckpointProcessRestore(pid, arguments); },
        first_isolating_gpu);
}

CGPU_HOOK cuMemPrefetchAsync(CUdeviceptr address, std::size_t bytes, CUdevice device, CUstream stream) {
    return prefetch("cuMemPrefetchAsync", device >= 0,
                    [&] { return real::cuMemPrefetchAsync(address, bytes, device, stream); });
}

CGPU_HOOK cuMemPrefetchAsync_ptsz(CUdeviceptr address, std::size_t bytes, CUdevice device, CUstream stream) {
    return prefetch("cuMemPrefetchAsync", device >= 0,
                    [&] { return real::cuMemPrefetchAsync_ptsz(address, bytes, device, stream); });
}

CGPU_HOOK cuMemPrefetchAsync_v2(CUdeviceptr address, std::size_t bytes, CUmemLocation location,
                                unsigned flags, CUstream stream) {
    return prefetch("cuMemPrefetchAsync", location.type == kLocationDevice,
                    [&] { return real::cuMemPrefetchAsync_v2(address, bytes, location, flags, stream); });
}

CGPU_HOOK cuMemPrefetchAsync_v2_ptsz(CUdeviceptr address, std::size_t bytes, CUmemLocation location,
                                     unsigned flags, CUstream stream) {
    return prefetch("cuMemPrefetchAsync", location.type == kLocationDevice, [&] {
        return real::cuMemPrefetchAsync_v2_ptsz(address, bytes, location, flags, stream);
    });
}

CGPU_HOOK cuMemPrefetchBatchAsync(CUdeviceptr* addresses, std::size_t* bytes, std::size_t count,
                                  CUmemLocation* locations, std::size_t* indices, std::size_t location_count,
                                  unsigned long long flags, CUstream stream) {
    return prefetch("cuMemPrefetchBatchAsync", any_on_gpu(locations, location_count), [&] {
        return real::cuMemPrefetchBatchAsync(addresses, bytes, count, locations, indices, location_count,
                                             flags, stream);
    });
}

CGPU_HOOK cuMemPrefetchBatchAsync_ptsz(CUdeviceptr* addresses, std::size_t* bytes, std::size_t count,
                                       CUmemLocation* locations, std::size_t* indices,
                                       std::size_t location_count, unsigned long long flags,
                                       CUstream stream) {
    return prefetch("cuMemPrefetchBatchAsync", any_on_gpu(locations, location_count), [&] {
        return real::cuMemPrefetchBatchAsync_ptsz(addresses, bytes, count, locations, indices, location_count,
                                                  flags, stream);
    });
}

CGPU_HOOK cuMemDiscardAndPrefetchBatchAsync(CUdeviceptr* addresses, std::size_t* bytes, std::size_t count,
                                            CUmemLocation* locations, std::size_t* indices,
                                            std::size_t location_count, unsigned long long flags,
                                            CUstream stream) {
    return prefetch("cuMemDiscardAndPrefetchBatchAsync", any_on_gpu(locations, location_count), [&] {
        return real::cuMemDiscardAndPrefetchBatchAsync(addresses, bytes, count, locations, indices,
                                                       location_count, flags, stream);
    });
}

CGPU_HOOK cuMemDiscardAndPrefetchBatchAsync_ptsz(CUdeviceptr* addresses, std::size_t* bytes,
                                                 std::size_t count, CUmemLocation* locations,
                                                 std::size_t* indices, std::size_t location_count,
                                                 unsigned long long flags, CUstream stream) {
    return prefetch("cuMemDiscardAndPrefetchBatchAsync", any_on_gpu(locations, location_count), [&] {
        return real::cuMemDiscardAndPrefetchBatchAsync_ptsz(addresses, bytes, count, locations, indices,
                                                            location_count, flags, stream);
    });
}

CGPU_HOOK cuLogicalEndpointBindAddr(unsigned endpoint, CUdevice device, std::uint64_t offset, void* address,
                                    std::uint64_t bytes, unsigned long long flags) {
    return refused_when_isolated(
        "cuLogicalEndpointBindAddr",
        [&] { return real::cuLogicalEndpointBindAddr(endpoint, device, offset, address, bytes, flags); },
        first_isolating_gpu);
}

CGPU_HOOK cuLogicalEndpointBindMem(unsigned endpoint, CUdevice device, std::uint64_t offset,
                                   CUmemGenericAllocationHandle handle, std::uint64_t memory_offset,
                                   std::uint64_t bytes, unsigned long long flags) {
    return refused_when_isolated(
        "cuLogicalEndpointBindMem",
        [&] {
            return real::cuLogicalEndpointBindMem(endpoint, device, offset, handle, memory_offset, bytes,
                                                  flags);
        },
        first_isolating_gpu);
}

CGPU_HOOK cuStreamBeginCaptureToCig(CUstream stream, void* what) {
    return refused_when_isolated("cuStreamBeginCaptureToCig",
                                 [&] { return real::cuStreamBeginCaptureToCig(stream, what); });
}

CGPU_HOOK cuStreamBeginCaptureToCig_ptsz(CUstream stream, void* what) {
    return refused_when_isolated("cuStreamBeginCaptureToCig",
                                 [&] { return real::cuStreamBeginCaptureToCig_ptsz(stream, what); });
}
