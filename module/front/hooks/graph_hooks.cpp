// Graphs with memory of their own: how they get their allocation nodes, and when the driver takes memory for
// them.
#include "module/front/compute/gate.hpp"
#include "module/front/driver/hook.hpp"
#include "module/front/driver/stream_key.hpp"
#include "module/front/lease/pools.hpp"
#include "module/front/memory/graph_memory.hpp"
#include "module/front/session/session.hpp"

using namespace cgpu::front;
using cgpu::wire::Event;

namespace cgpu::front::real {
CGPU_REAL(cuGraphAddMemAllocNode, CUgraphNode*, CUgraph, const CUgraphNode*, std::size_t,
          CUmemAllocNodeParams*)
CGPU_REAL(cuGraphAddNode, CUgraphNode*, CUgraph, const CUgraphNode*, std::size_t, CUgraphNodeParams*)
CGPU_REAL(cuGraphAddNode_v2, CUgraphNode*, CUgraph, const CUgraphNode*, const void*, std::size_t,
          CUgraphNodeParams*)
CGPU_REAL(cuGraphAddNode_v3, CUgraphNode*, CUgraph, const CUgraphNode*, const void*, std::size_t,
          CUgraphNodeParams*)
CGPU_REAL(cuGraphInstantiate, CUgraphExec*, CUgraph, CUgraphNode*, char*, std::size_t)
CGPU_REAL(cuGraphInstantiate_v2, CUgraphExec*, CUgraph, CUgraphNode*, char*, std::size_t)
CGPU_REAL(cuGraphInstantiateWithFlags, CUgraphExec*, CUgraph, unsigned long long)
CGPU_REAL(cuGraphInstantiateWithParams, CUgraphExec*, CUgraph, CUgraphInstantiateParams*)
CGPU_REAL(cuGraphInstantiateWithParams_ptsz, CUgraphExec*, CUgraph, CUgraphInstantiateParams*)
CGPU_REAL(cuGraphUpload, CUgraphExec, CUstream)
CGPU_REAL(cuGraphUpload_ptsz, CUgraphExec, CUstream)
CGPU_REAL(cuGraphLaunch, CUgraphExec, CUstream)
CGPU_REAL(cuGraphLaunch_ptsz, CUgraphExec, CUstream)
CGPU_REAL(cuGraphExecDestroy, CUgraphExec)
}  // namespace cgpu::front::real

namespace {

/// Adds an allocation node. It takes no memory yet.
template <class Call>
CUresult add_allocation(const CUmemAllocNodeParams* what, Call call) {
    const Route route = session().route();
    if (route == Route::broken) return kSystemNotReady;
    if (route == Route::pass || what == nullptr || what->pool.location.type != kLocationDevice) return call();
    const int gpu = session().gpu_of(what->pool.location.id);
    if (gpu == kForeignGpu) {
        session().link().notice(Event::foreign_device_refused, 0, "cuGraphAddMemAllocNode");
        return kInvalidDevice;
    }
    if (!session().isolates(gpu)) return call();
    if (what->pool.allocation_type == kAllocationManaged) {
        session().link().notice(Event::managed_memory_refused, static_cast<std::uint32_t>(gpu),
                                "cuGraphAddMemAllocNode");
        return kNotSupported;
    }
    graph_memory().expect();
    return call();
}

template <class Call>
CUresult add_node(const CUgraphNodeParams* what, Call call) {
    if (what == nullptr || what->type != kGraphNodeMemoryAlloc) return call();
    return add_allocation(&what->alloc, call);
}

template <class Call>
CUresult instantiate(CUgraphExec* exec, CUgraph graph, const CUgraphInstantiateParams* how, Call call) {
    return graph_memory().instantiated(exec, graph, how != nullptr && (how->flags & kGraphUpload) != 0, call);
}

/// `stream` as the plain functions take it.
template <class Call>
CUresult launch(CUgraphExec graph, CUstream stream, Call call) {
    return graph_memory().launched(graph, [&] { return gated({graph, stream, nullptr}, call); });
}

}  // namespace

CGPU_HOOK cuGraphAddMemAllocNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                                 std::size_t count, CUmemAllocNodeParams* what) {
    return add_allocation(what,
                          [&] { return real::cuGraphAddMemAllocNode(node, graph, after, count, what); });
}

CGPU_HOOK cuGraphAddNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, std::size_t count,
                         CUgraphNodeParams* what) {
    return add_node(what, [&] { return real::cuGraphAddNode(node, graph, after, count, what); });
}

CGPU_HOOK cuGraphAddNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, const void* edges,
                            std::size_t count, CUgraphNodeParams* what) {
    return add_node(what, [&] { return real::cuGraphAddNode_v2(node, graph, after, edges, count, what); });
}

CGPU_HOOK cuGraphAddNode_v3(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, const void* edges,
                            std::size_t count, CUgraphNodeParams* what) {
    return add_node(what, [&] { return real::cuGraphAddNode_v3(node, graph, after, edges, count, what); });
}

CGPU_HOOK cuGraphInstantiate(CUgraphExec* exec, CUgraph graph, CUgraphNode* failed, char* log,
                             std::size_t log_bytes) {
    return instantiate(exec, graph, nullptr,
                       [&] { return real::cuGraphInstantiate(exec, graph, failed, log, log_bytes); });
}

CGPU_HOOK cuGraphInstantiate_v2(CUgraphExec* exec, CUgraph graph, CUgraphNode* failed, char* log,
                                std::size_t log_bytes) {
    return instantiate(exec, graph, nullptr,
                       [&] { return real::cuGraphInstantiate_v2(exec, graph, failed, log, log_bytes); });
}

CGPU_HOOK cuGraphInstantiateWithFlags(CUgraphExec* exec, CUgraph graph, unsigned long long flags) {
    return instantiate(exec, graph, nullptr,
                       [&] { return real::cuGraphInstantiateWithFlags(exec, graph, flags); });
}

CGPU_HOOK cuGraphInstantiateWithParams(CUgraphExec* exec, CUgraph graph, CUgraphInstantiateParams* how) {
    return instantiate(exec, graph, how,
                       [&] { return real::cuGraphInstantiateWithParams(exec, graph, how); });
}

CGPU_HOOK cuGraphInstantiateWithParams_ptsz(CUgraphExec* exec, CUgraph graph, CUgraphInstantiateParams* how) {
    return instantiate(exec, graph, how,
                       [&] { return real::cuGraphInstantiateWithParams_ptsz(exec, graph, how); });
}

CGPU_HOOK cuGraphUpload(CUgraphExec graph, CUstream stream) {
    return graph_memory().launched(graph, [&] { return real::cuGraphUpload(graph, stream); });
}

CGPU_HOOK cuGraphUpload_ptsz(CUgraphExec graph, CUstream stream) {
    return graph_memory().launched(graph, [&] { return real::cuGraphUpload_ptsz(graph, stream); });
}

CGPU_HOOK cuGraphLaunch(CUgraphExec graph, CUstream stream) {
    return launch(graph, stream, [&] { return real::cuGraphLaunch(graph, stream); });
}

CGPU_HOOK cuGraphLaunch_ptsz(CUgraphExec graph, CUstream stream) {
    return launch(graph, per_thread(stream), [&] { return real::cuGraphLaunch_ptsz(graph, stream); });
}

CGPU_HOOK cuGraphExecDestroy(CUgraphExec graph) {
    graph_memory().forget(graph);
    return real::cuGraphExecDestroy(graph);
}

CGPU_HOOK cuDeviceGraphMemTrim(CUdevice device) {
    const CUresult result = real::cuDeviceGraphMemTrim(device);
    const int gpu = session().route() == Route::managed ? session().gpu_of(device) : kForeignGpu;
    if (gpu != kForeignGpu && graph_memory().expected()) pools().look_at_graphs(gpu);
    return result;
}
