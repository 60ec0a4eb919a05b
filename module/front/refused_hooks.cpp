// Ways to device memory that can't be charged truthfully yet: refused on GPUs that isolate memory.
#include "module/front/charge.hpp"
#include "module/front/hook.hpp"

using namespace cgpu::front;

namespace cgpu::front::real {
CGPU_REAL(cuMemAllocManaged, CUdeviceptr*, std::size_t, unsigned)
CGPU_REAL(cuGraphAddMemAllocNode, CUgraphNode*, CUgraph, const CUgraphNode*, std::size_t, void*)
CGPU_REAL(cuGraphAddNode, CUgraphNode*, CUgraph, const CUgraphNode*, std::size_t, CUgraphNodeParams*)
CGPU_REAL(cuGraphAddNode_v2, CUgraphNode*, CUgraph, const CUgraphNode*, const void*, std::size_t,
          CUgraphNodeParams*)
CGPU_REAL(cuImportExternalMemory, CUexternalMemory*, const void*)
CGPU_REAL(cuMemGetDefaultMemPool, CUmemoryPool*, const CUmemLocation*, int)
CGPU_REAL(cuMemGetMemPool, CUmemoryPool*, const CUmemLocation*, int)
}  // namespace cgpu::front::real

namespace {

using cgpu::wire::Event;

/// The GPU of the current context, or the first of the instance that isolates: functions that need no context
/// are refused, too, once memory is isolated somewhere.
int isolating_gpu() {
    if (const Context* context = contexts().current(); context != nullptr && context->gpu >= 0) {
        return session().isolates(context->gpu) ? context->gpu : kForeignGpu;
    }
    for (std::uint32_t gpu = 0; gpu < session().gpu_count(); ++gpu) {
        if (session().isolates(static_cast<int>(gpu))) return static_cast<int>(gpu);
    }
    return kForeignGpu;
}

template <class Call>
CUresult refused_when_isolated(Event event, const char* what, Call call) {
    const Route route = session().route();
    if (route == Route::broken) return kSystemNotReady;
    const int gpu = route == Route::managed ? isolating_gpu() : kForeignGpu;
    if (gpu == kForeignGpu) return call();
    session().link().notice(event, static_cast<std::uint32_t>(gpu), what);
    return kNotSupported;
}

}  // namespace

CGPU_HOOK cuMemAllocManaged(CUdeviceptr* address, std::size_t bytes, unsigned flags) {
    return refused_when_isolated(Event::managed_memory_refused, "cuMemAllocManaged",
                                 [&] { return real::cuMemAllocManaged(address, bytes, flags); });
}

CGPU_HOOK cuGraphAddMemAllocNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                                 std::size_t count, void* what) {
    return refused_when_isolated(Event::unsupported_allocator_refused, "cuGraphAddMemAllocNode", [&] {
        return real::cuGraphAddMemAllocNode(node, graph, after, count, what);
    });
}

CGPU_HOOK cuGraphAddNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, std::size_t count,
                         CUgraphNodeParams* what) {
    const auto call = [&] { return real::cuGraphAddNode(node, graph, after, count, what); };
    if (what == nullptr || what->type != kGraphNodeMemoryAlloc) return call();
    return refused_when_isolated(Event::unsupported_allocator_refused, "cuGraphAddNode", call);
}

CGPU_HOOK cuGraphAddNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, const void* edges,
                            std::size_t count, CUgraphNodeParams* what) {
    const auto call = [&] { return real::cuGraphAddNode_v2(node, graph, after, edges, count, what); };
    if (what == nullptr || what->type != kGraphNodeMemoryAlloc) return call();
    return refused_when_isolated(Event::unsupported_allocator_refused, "cuGraphAddNode", call);
}

CGPU_HOOK cuImportExternalMemory(CUexternalMemory* memory, const void* handle) {
    return refused_when_isolated(Event::unsupported_allocator_refused, "cuImportExternalMemory",
                                 [&] { return real::cuImportExternalMemory(memory, handle); });
}

CGPU_HOOK cuMemGetDefaultMemPool(CUmemoryPool* pool, const CUmemLocation* location, int type) {
    const auto call = [&] { return real::cuMemGetDefaultMemPool(pool, location, type); };
    if (type != kAllocationManaged) return call();
    return refused_when_isolated(Event::managed_memory_refused, "cuMemGetDefaultMemPool", call);
}

CGPU_HOOK cuMemGetMemPool(CUmemoryPool* pool, const CUmemLocation* location, int type) {
    const auto call = [&] { return real::cuMemGetMemPool(pool, location, type); };
    if (type != kAllocationManaged) return call();
    return refused_when_isolated(Event::managed_memory_refused, "cuMemGetMemPool", call);
}
