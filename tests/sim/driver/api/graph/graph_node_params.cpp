// Reading and changing the parameters of nodes, in graphs and in executable graphs.
#include <cstring>

#include "tests/sim/driver/launch/graph_handle.hpp"
#include "tests/sim/driver/launch/node_params.hpp"
#include "tests/sim/driver/runtime/runtime.hpp"
#include "tests/sim/driver/work/event.hpp"

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

/// Calls show(node, its step of that kind, *out).
template <typename Kind, typename Out, typename Show>
CUresult get(CUgraphNode handle, Out* out, Show show) {
    Node* node = nullptr;
    Kind* step = nullptr;
    if (const CUresult result = find(handle, node, step); result != CUDA_SUCCESS) return result;
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    show(*node, *step, *out);
    return CUDA_SUCCESS;
}

template <typename Kind>
CUresult get_event(CUgraphNode handle, CUevent* event) {
    return get<Kind>(handle, event, [](const Node&, const Kind& step, CUevent& out) {
        out = reinterpret_cast<CUevent>(step.event);
    });
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

/// Changes a node in its graph.
template <typename Params>
CUresult change(CUresult (*set)(Node&, Params), CUgraphNode handle, Params params) {
    Node* node = from_handle<Node>(handle);
    return node ? set(*node, params) : CUDA_ERROR_INVALID_VALUE;
}

/// Changes the node that stands for it in an executable graph.
template <typename Params>
CUresult change_in(CUgraphExec exec, CUresult (*set)(Node&, Params), CUgraphNode handle, Params params) {
    Node* node = nullptr;
    const CUresult result = find_in(exec, handle, node);
    return result == CUDA_SUCCESS ? set(*node, params) : result;
}

}  // namespace

// Defines both. set: of (Node&, type)
#define SIMGPU_SET_PARAMS(name, type, set)                                                                \
    CUresult cuGraph##name(CUgraphNode handle, type params) { return change<type>(set, handle, params); } \
    CUresult cuGraphExec##name(CUgraphExec exec, CUgraphNode handle, type params) {                       \
        return change_in<type>(exec, set, handle, params);                                                \
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
    return change(set_params<CopyStep>, handle, params);
}
CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode handle, const CUDA_MEMCPY3D* params,
                                        CUcontext) {
    return change_in(exec, set_params<CopyStep>, handle, params);
}

CUresult cuGraphMemsetNodeSetParams(CUgraphNode handle, const CUDA_MEMSET_NODE_PARAMS* params) {
    return change(set_params<Fill>, handle, params);
}
CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode handle,
                                        const CUDA_MEMSET_NODE_PARAMS* params, CUcontext) {
    return change_in(exec, set_params<Fill>, handle, params);
}

CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode handle, CUDA_KERNEL_NODE_PARAMS* params) {
    return get<KernelStep>(handle, params,
                           [](Node& node, const KernelStep&, auto& out) { show_params(node, out); });
}
CUresult cuGraphKernelNodeGetParams(CUgraphNode handle, CUDA_KERNEL_NODE_PARAMS_v1* params) {
    CUDA_KERNEL_NODE_PARAMS wide{};
    const CUresult result = cuGraphKernelNodeGetParams_v2(handle, &wide);
    if (result == CUDA_SUCCESS) std::memcpy(params, &wide, sizeof *params);
    return result;
}

CUresult cuGraphMemcpyNodeGetParams(CUgraphNode handle, CUDA_MEMCPY3D* params) {
    return get<CopyStep>(handle, params,
                         [](const Node&, const CopyStep& step, auto& out) { out = step.copy; });
}

CUresult cuGraphMemsetNodeGetParams(CUgraphNode handle, CUDA_MEMSET_NODE_PARAMS* params) {
    return get<Fill>(handle, params,
                     [](const Node&, const Fill& step, auto& out) { show_params(step, out); });
}

CUresult cuGraphHostNodeGetParams(CUgraphNode handle, CUDA_HOST_NODE_PARAMS* params) {
    return get<HostStep>(handle, params, [](const Node&, const HostStep& step, auto& out) {
        out = {step.function, step.data};
    });
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode handle, CUgraph* graph) {
    return get<ChildStep>(handle, graph, [](const Node&, const ChildStep& step, auto& out) {
        out = handle_of(step.graph.get());
    });
}

CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode handle, CUevent* event) {
    return get_event<RecordEventStep>(handle, event);
}

CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode handle, CUevent* event) {
    return get_event<WaitEventStep>(handle, event);
}

CUresult cuGraphMemAllocNodeGetParams(CUgraphNode handle, CUDA_MEM_ALLOC_NODE_PARAMS* params) {
    return get<AllocateStep>(handle, params,
                             [](const Node&, const AllocateStep& step, auto& out) { out = step.asked; });
}

CUresult cuGraphMemFreeNodeGetParams(CUgraphNode handle, CUdeviceptr* pointer) {
    return get<FreeStep>(handle, pointer,
                         [](const Node&, const FreeStep& step, auto& out) { out = step.address; });
}

CUresult cuGraphBatchMemOpNodeGetParams(CUgraphNode handle, CUDA_BATCH_MEM_OP_NODE_PARAMS* params) {
    return get<MemoryOperationsStep>(handle, params, [](Node& node, MemoryOperationsStep& step, auto& out) {
        out = {reinterpret_cast<CUcontext>(&node.context), static_cast<unsigned int>(step.operations.size()),
               step.operations.data(), 0};
    });
}

CUresult cuGraphKernelNodeGetAttribute(CUgraphNode handle, CUlaunchAttributeID attribute,
                                       CUlaunchAttributeValue* value) {
    return get<KernelStep>(handle, value, [&](const Node&, const KernelStep& step, auto& out) {
        out = {};
        if (attribute == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) out.cooperative = step.cooperative;
        if (attribute == CU_LAUNCH_ATTRIBUTE_PRIORITY) out.priority = step.priority;
    });
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
