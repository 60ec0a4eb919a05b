// Adding nodes to graphs.
#include <cstring>

#include "tests/sim/driver/launch/graph_handle.hpp"
#include "tests/sim/driver/launch/node_params.hpp"
#include "tests/sim/driver/runtime/runtime.hpp"

using namespace simgpu;

namespace {

/// The context that a node works in: the named one, else the current one.
CUresult context_of(CUcontext handle, Context*& context) {
    if (!handle) return current_context(context);
    context = from_handle<Context>(handle);
    return context ? context->error() : CUDA_ERROR_INVALID_CONTEXT;
}

CUcontext context_named(const CUgraphNodeParams& params) {
    switch (static_cast<int>(params.type)) {
        case CU_GRAPH_NODE_TYPE_KERNEL:
            return params.kernel.ctx;
        case CU_GRAPH_NODE_TYPE_MEMCPY:
            return params.memcpy.copyCtx;
        case CU_GRAPH_NODE_TYPE_MEMSET:
            return params.memset.ctx;
        case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
            return params.memOp.ctx;
    }
    return nullptr;
}

CUresult add(CUgraphNode* node_handle, CUgraph graph_handle, const CUgraphNode* dependencies,
             const CUgraphEdgeData* data, std::size_t count, CUgraphNodeParams& params) {
    if (!Runtime::get()) return CUDA_ERROR_NOT_INITIALIZED;
    Context* context = nullptr;
    if (const CUresult result = context_of(context_named(params), context); result != CUDA_SUCCESS)
        return result;
    Graph* graph = from_handle<Graph>(graph_handle);
    std::vector<Edge> edges;
    if (!node_handle || !graph || !read_edges(*graph, dependencies, data, count, edges))
        return CUDA_ERROR_INVALID_VALUE;
    Step step;
    if (const CUresult result = read_params(*context, *graph, params, step); result != CUDA_SUCCESS)
        return result;
    Node* node = graph->add(*context, std::move(step), edges);
    if (!node) return CUDA_ERROR_INVALID_VALUE;
    *node_handle = handle_of(node);
    return CUDA_SUCCESS;
}

CUgraphNodeParams params_of(CUgraphNodeType type) {
    CUgraphNodeParams params;
    std::memset(&params, 0, sizeof params);
    params.type = type;
    return params;
}

/// Adds a node of that type with these parameters of it.
template <typename Part>
CUresult add_given(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, std::size_t count,
                   CUgraphNodeType type, Part CUgraphNodeParams::*part, const Part* given) {
    if (!given) return CUDA_ERROR_INVALID_VALUE;
    CUgraphNodeParams params = params_of(type);
    params.*part = *given;
    return add(node, graph, dependencies, nullptr, count, params);
}

}  // namespace

extern "C" {

CUresult cuGraphAddNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                           const CUgraphEdgeData* data, std::size_t count, CUgraphNodeParams* params) {
    return params ? add(node, graph, dependencies, data, count, *params) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphAddNode_v3(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                           const CUgraphEdgeData* data, std::size_t count, CUgraphNodeParams* params) {
    return cuGraphAddNode_v2(node, graph, dependencies, data, count, params);
}

CUresult cuGraphAddNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, std::size_t count,
                        CUgraphNodeParams* params) {
    return cuGraphAddNode_v2(node, graph, dependencies, nullptr, count, params);
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                 std::size_t count, const CUDA_KERNEL_NODE_PARAMS* kernel) {
    return add_given(node, graph, dependencies, count, CU_GRAPH_NODE_TYPE_KERNEL, &CUgraphNodeParams::kernel,
                     kernel);
}

CUresult cuGraphAddKernelNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                              std::size_t count, const CUDA_KERNEL_NODE_PARAMS_v1* kernel) {
    if (!kernel) return CUDA_ERROR_INVALID_VALUE;
    CUgraphNodeParams params = params_of(CU_GRAPH_NODE_TYPE_KERNEL);
    std::memcpy(&params.kernel, kernel, sizeof *kernel);
    return add(node, graph, dependencies, nullptr, count, params);
}

CUresult cuGraphAddMemcpyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                              std::size_t count, const CUDA_MEMCPY3D* copy, CUcontext context) {
    if (!copy) return CUDA_ERROR_INVALID_VALUE;
    const CUDA_MEMCPY_NODE_PARAMS given{0, 0, context, *copy};
    return add_given(node, graph, dependencies, count, CU_GRAPH_NODE_TYPE_MEMCPY, &CUgraphNodeParams::memcpy,
                     &given);
}

CUresult cuGraphAddMemsetNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                              std::size_t count, const CUDA_MEMSET_NODE_PARAMS* set, CUcontext context) {
    if (!set) return CUDA_ERROR_INVALID_VALUE;
    const CUDA_MEMSET_NODE_PARAMS_v2 given{set->dst,   set->pitch,  set->value, set->elementSize,
                                           set->width, set->height, context};
    return add_given(node, graph, dependencies, count, CU_GRAPH_NODE_TYPE_MEMSET, &CUgraphNodeParams::memset,
                     &given);
}

CUresult cuGraphAddHostNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                            std::size_t count, const CUDA_HOST_NODE_PARAMS* host) {
    return add_given(node, graph, dependencies, count, CU_GRAPH_NODE_TYPE_HOST, &CUgraphNodeParams::host,
                     host);
}

CUresult cuGraphAddChildGraphNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                  std::size_t count, CUgraph child) {
    CUgraphNodeParams params = params_of(CU_GRAPH_NODE_TYPE_GRAPH);
    params.graph.graph = child;
    return add(node, graph, dependencies, nullptr, count, params);
}

CUresult cuGraphAddEmptyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                             std::size_t count) {
    CUgraphNodeParams params = params_of(CU_GRAPH_NODE_TYPE_EMPTY);
    return add(node, graph, dependencies, nullptr, count, params);
}

CUresult cuGraphAddEventRecordNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                   std::size_t count, CUevent event) {
    const CUDA_EVENT_NODE_PARAMS given{event};
    return add_given(node, graph, dependencies, count, CU_GRAPH_NODE_TYPE_EVENT_RECORD,
                     &CUgraphNodeParams::eventRecord, &given);
}

CUresult cuGraphAddEventWaitNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                 std::size_t count, CUevent event) {
    const CUDA_EVENT_NODE_PARAMS given{event};
    return add_given(node, graph, dependencies, count, CU_GRAPH_NODE_TYPE_WAIT_EVENT,
                     &CUgraphNodeParams::eventWait, &given);
}

CUresult cuGraphAddMemAllocNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                std::size_t count, CUDA_MEM_ALLOC_NODE_PARAMS* alloc) {
    if (!alloc) return CUDA_ERROR_INVALID_VALUE;
    CUgraphNodeParams params = params_of(CU_GRAPH_NODE_TYPE_MEM_ALLOC);
    params.alloc = *alloc;
    const CUresult result = add(node, graph, dependencies, nullptr, count, params);
    if (result == CUDA_SUCCESS) alloc->dptr = params.alloc.dptr;
    return result;
}

CUresult cuGraphAddMemFreeNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                               std::size_t count, CUdeviceptr pointer) {
    const CUDA_MEM_FREE_NODE_PARAMS given{pointer};
    return add_given(node, graph, dependencies, count, CU_GRAPH_NODE_TYPE_MEM_FREE, &CUgraphNodeParams::free,
                     &given);
}

CUresult cuGraphAddBatchMemOpNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                  std::size_t count, const CUDA_BATCH_MEM_OP_NODE_PARAMS* operations) {
    return add_given(node, graph, dependencies, count, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP,
                     &CUgraphNodeParams::memOp, operations);
}

}  // extern "C"
