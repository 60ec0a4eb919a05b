// What is refused on GPUs that isolate memory: managed memory, and checkpoints of processes. The memory that
// a checkpoint gives back is taken again at the restore, inside the driver, where no limit is asked.
#include "module/front/contexts/context_table.hpp"
#include "module/front/hooks/hook.hpp"
#include "module/front/memory/current_context.hpp"
#include "module/front/session/session.hpp"

using namespace cgpu::front;

namespace cgpu::front::real {
CGPU_REAL(cuMemAllocManaged, CUdeviceptr*, std::size_t, unsigned)
CGPU_REAL(cuMemGetDefaultMemPool, CUmemoryPool*, const CUmemLocation*, int)
CGPU_REAL(cuMemGetMemPool, CUmemoryPool*, const CUmemLocation*, int)
CGPU_REAL(cuCheckpointProcessCheckpoint, int, void*)
CGPU_REAL(cuCheckpointProcessRestore, int, void*)
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
        return session().isolates(context->gpu) ? context->gpu : kForeignGpu;
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
