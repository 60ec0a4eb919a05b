// Reading and changing the parameters of nodes, in graphs and in executable graphs.
#include <cstring>

#include "tests/sim/driver/event.hpp"
#include "tests/sim/driver/graph_handle.hpp"
#include "tests/sim/driver/node_params.hpp"
#include "tests/sim/driver/runtime.hpp"

using namespace simgpu;

namespace {

/// The node with a step of that kind.
template <typename Kind>
CUresult find(CUgraphNode handle, Node*& node, Kind*& step) {
    if (!Runtime::get()) return CUDA_ERROR_NOT_INITIALIZED;
    node = from_handle<Node>(handle);
    step = node ? std::get_if<Kind>(&node->step) : nullptr;
    return step ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/// The node of an executable graph that stands for this one.
CUresult find_in(CUgraphExec exec_handle, CUgraphNode handle, Node*& node) {
    if (!Runtime::get()) return CUDA_ERROR_NOT_INITIALIZED;
    const GraphExec* exec = from_handle<GraphExec>(exec_handle);
    const Node* original = from_handle<Node>(handle);
    node = exec && original ? exec->find(*original) : nullptr;
    return node ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/// Replaces the step by one of the same kind, keeping a kernel's attributes.
template <typename Kind>
CUresult replace(Node& node, CUresult result, Kind fresh) {
    if (result != CUDA_SUCCESS) return result;
    auto* old = std::get_if<Kind>(&node.step);
    if (!old) return CUDA_ERROR_INVALID_VALUE;
    if constexpr (std::is_same_v<Kind, KernelStep>) {
        fresh.cooperative = old->cooperative;
        fresh.priority = old->priority;
    }
    *old = std::move(fresh);
    return CUDA_SUCCESS;
}

template <typename Kind, typename Params>
CUresult set_params(Node& node, const Params* params) {
    if (!params) return CUDA_ERROR_INVALID_VALUE;
    Kind step{};
    const CUresult result = read_params(*params, step);
    return replace(node, result, std::move(step));
}

CUresult set_host(Node& node, const CUDA_HOST_NODE_PARAMS* params) {
    if (!params || !params->fn) return CUDA_ERROR_INVALID_VALUE;
    return replace(node, CUDA_SUCCESS, HostStep{params->fn, params->userData});
}

template <typename Kind>
CUresult set_event(Node& node, CUevent handle) {
    Event* event = from_handle<Event>(handle);
    return replace(node, event ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE, Kind{event});
}

CUDA_KERNEL_NODE_PARAMS widened(const CUDA_KERNEL_NODE_PARAMS_v1& old) {
    CUDA_KERNEL_NODE_PARAMS params{};
    std::memcpy(&params, &old, sizeof old);
    return params;
}

/// cuGraphNodeSetParams and cuGraphExecNodeSetParams.
CUresult set_any(Node& node, CUgraphNodeParams* params) {
    if (!params || params->type != type_of(node.step)) return CUDA_ERROR_INVALID_VALUE;
    const bool is_memory_node =
        params->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || params->type == CU_GRAPH_NODE_TYPE_MEM_FREE;
    if (is_memory_node) return CUDA_ERROR_NOT_SUPPORTED;
    Step step;
    const CUresult result = read_params(node.context, node.graph, *params, step);
    if (result != CUDA_SUCCESS) return result;
    if (auto* kernel = std::get_if<KernelStep>(&step)) return replace(node, result, std::move(*kernel));
    node.step = std::move(step);
    return CUDA_SUCCESS;
}

}  // namespace

// Defines how a node is changed: in its graph, and in an executable one. set: of (Node&, type)
#define SIMGPU_SET_PARAMS(name, type, set)                                          \
    CUresult cuGraph##name(CUgraphNode handle, type params) {                       \
        Node* node = from_handle<Node>(handle);                                     \
        return node ? set(*node, params) : CUDA_ERROR_INVALID_VALUE;                \
    }                                                                               \
    CUresult cuGraphExec##name(CUgraphExec exec, CUgraphNode handle, type params) { \
        Node* node = nullptr;                                                       \
        const CUresult result = find_in(exec, handle, node);                        \
        return result == CUDA_SUCCESS ? set(*node, params) : result;                \
    }

extern "C" {

SIMGPU_SET_PARAMS(KernelNodeSetParams_v2, const CUDA_KERNEL_NODE_PARAMS*, set_params<KernelStep>)
SIMGPU_SET_PARAMS(HostNodeSetParams, const CUDA_HOST_NODE_PARAMS*, set_host)
SIMGPU_SET_PARAMS(EventRecordNodeSetEvent, CUevent, set_event<RecordEventStep>)
SIMGPU_SET_PARAMS(EventWaitNodeSetEvent, CUevent, set_event<WaitEventStep>)
SIMGPU_SET_PARAMS(NodeSetParams, CUgraphNodeParams*, set_any)

CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1* params) {
    if (!params) return CUDA_ERROR_INVALID_VALUE;
    const CUDA_KERNEL_NODE_PARAMS wide = widened(*params);
    return cuGraphKernelNodeSetParams_v2(node, &wide);
}
CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_KERNEL_NODE_PARAMS_v1* params) {
    if (!params) return CUDA_ERROR_INVALID_VALUE;
    const CUDA_KERNEL_NODE_PARAMS wide = widened(*params);
    return cuGraphExecKernelNodeSetParams_v2(exec, node, &wide);
}

CUresult cuGraphMemcpyNodeSetParams(CUgraphNode handle, const CUDA_MEMCPY3D* params) {
    Node* node = from_handle<Node>(handle);
    return node ? set_params<CopyStep>(*node, params) : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode handle, const CUDA_MEMCPY3D* params,
                                        CUcontext) {
    Node* node = nullptr;
    const CUresult result = find_in(exec, handle, node);
    return result == CUDA_SUCCESS ? set_params<CopyStep>(*node, params) : result;
}

CUresult cuGraphMemsetNodeSetParams(CUgraphNode handle, const CUDA_MEMSET_NODE_PARAMS* params) {
    Node* node = from_handle<Node>(handle);
    return node ? set_params<Fill>(*node, params) : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode handle,
                                        const CUDA_MEMSET_NODE_PARAMS* params, CUcontext) {
    Node* node = nullptr;
    const CUresult result = find_in(exec, handle, node);
    return result == CUDA_SUCCESS ? set_params<Fill>(*node, params) : result;
}

CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode handle, CUDA_KERNEL_NODE_PARAMS* params) {
    Node* node = nullptr;
    KernelStep* step = nullptr;
    if (const CUresult result = find(handle, node, step); result != CUDA_SUCCESS) return result;
    if (!params) return CUDA_ERROR_INVALID_VALUE;
    show_params(*node, *params);
    return CUDA_SUCCESS;
}
CUresult cuGraphKernelNodeGetParams(CUgraphNode handle, CUDA_KERNEL_NODE_PARAMS_v1* params) {
    CUDA_KERNEL_NODE_PARAMS wide{};
    const CUresult result = cuGraphKernelNodeGetParams_v2(handle, &wide);
    if (result == CUDA_SUCCESS) std::memcpy(params, &wide, sizeof *params);
    return result;
}

CUresult cuGraphMemcpyNodeGetParams(CUgraphNode handle, CUDA_MEMCPY3D* params) {
    Node* node = nullptr;
    CopyStep* step = nullptr;
    if (const CUresult result = find(handle, node, step); result != CUDA_SUCCESS) return result;
    if (!params) return CUDA_ERROR_INVALID_VALUE;
    *params = step->copy;
    return CUDA_SUCCESS;
}

CUresult cuGraphMemsetNodeGetParams(CUgraphNode handle, CUDA_MEMSET_NODE_PARAMS* params) {
    Node* node = nullptr;
    Fill* step = nullptr;
    if (const CUresult result = find(handle, node, step); result != CUDA_SUCCESS) return result;
    if (!params) return CUDA_ERROR_INVALID_VALUE;
    show_params(*step, *params);
    return CUDA_SUCCESS;
}

CUresult cuGraphHostNodeGetParams(CUgraphNode handle, CUDA_HOST_NODE_PARAMS* params) {
    Node* node = nullptr;
    HostStep* step = nullptr;
    if (const CUresult result = find(handle, node, step); result != CUDA_SUCCESS) return result;
    if (!params) return CUDA_ERROR_INVALID_VALUE;
    *params = {step->function, step->data};
    return CUDA_SUCCESS;
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode handle, CUgraph* graph) {
    Node* node = nullptr;
    ChildStep* step = nullptr;
    if (const CUresult result = find(handle, node, step); result != CUDA_SUCCESS) return result;
    if (!graph) return CUDA_ERROR_INVALID_VALUE;
    *graph = handle_of(step->graph.get());
    return CUDA_SUCCESS;
}

CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode handle, CUevent* event) {
    Node* node = nullptr;
    RecordEventStep* step = nullptr;
    if (const CUresult result = find(handle, node, step); result != CUDA_SUCCESS) return result;
    if (!event) return CUDA_ERROR_INVALID_VALUE;
    *event = reinterpret_cast<CUevent>(step->event);
    return CUDA_SUCCESS;
}

CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode handle, CUevent* event) {
    Node* node = nullptr;
    WaitEventStep* step = nullptr;
    if (const CUresult result = find(handle, node, step); result != CUDA_SUCCESS) return result;
    if (!event) return CUDA_ERROR_INVALID_VALUE;
    *event = reinterpret_cast<CUevent>(step->event);
    return CUDA_SUCCESS;
}

CUresult cuGraphMemAllocNodeGetParams(CUgraphNode handle, CUDA_MEM_ALLOC_NODE_PARAMS* params) {
    Node* node = nullptr;
    AllocateStep* step = nullptr;
    if (const CUresult result = find(handle, node, step); result != CUDA_SUCCESS) return result;
    if (!params) return CUDA_ERROR_INVALID_VALUE;
    *params = step->asked;
    return CUDA_SUCCESS;
}

CUresult cuGraphMemFreeNodeGetParams(CUgraphNode handle, CUdeviceptr* pointer) {
    Node* node = nullptr;
    FreeStep* step = nullptr;
    if (const CUresult result = find(handle, node, step); result != CUDA_SUCCESS) return result;
    if (!pointer) return CUDA_ERROR_INVALID_VALUE;
    *pointer = step->address;
    return CUDA_SUCCESS;
}

CUresult cuGraphBatchMemOpNodeGetParams(CUgraphNode handle, CUDA_BATCH_MEM_OP_NODE_PARAMS* params) {
    Node* node = nullptr;
    MemoryOperationsStep* step = nullptr;
    if (const CUresult result = find(handle, node, step); result != CUDA_SUCCESS) return result;
    if (!params) return CUDA_ERROR_INVALID_VALUE;
    *params = {reinterpret_cast<CUcontext>(&node->context),
               static_cast<unsigned int>(step->operations.size()), step->operations.data(), 0};
    return CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeGetAttribute(CUgraphNode handle, CUlaunchAttributeID attribute,
                                       CUlaunchAttributeValue* value) {
    Node* node = nullptr;
    KernelStep* step = nullptr;
    if (const CUresult result = find(handle, node, step); result != CUDA_SUCCESS) return result;
    if (!value) return CUDA_ERROR_INVALID_VALUE;
    *value = {};
    if (attribute == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) value->cooperative = step->cooperative;
    if (attribute == CU_LAUNCH_ATTRIBUTE_PRIORITY) value->priority = step->priority;
    return CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeSetAttribute(CUgraphNode handle, CUlaunchAttributeID attribute,
                                       const CUlaunchAttributeValue* value) {
    Node* node = nullptr;
    KernelStep* step = nullptr;
    if (const CUresult result = find(handle, node, step); result != CUDA_SUCCESS) return result;
    if (!value) return CUDA_ERROR_INVALID_VALUE;
    if (attribute == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) step->cooperative = value->cooperative != 0;
    if (attribute == CU_LAUNCH_ATTRIBUTE_PRIORITY) step->priority = clamp_priority(value->priority);
    return CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode to_handle, CUgraphNode from_handle_) {
    Node* node = nullptr;
    KernelStep* to = nullptr;
    KernelStep* from = nullptr;
    if (const CUresult result = find(from_handle_, node, from); result != CUDA_SUCCESS) return result;
    if (const CUresult result = find(to_handle, node, to); result != CUDA_SUCCESS) return result;
    to->cooperative = from->cooperative;
    to->priority = from->priority;
    return CUDA_SUCCESS;
}

}  // extern "C"
