// Executable graphs.
#include "tests/sim/driver/launch/graph_exec.hpp"

#include "tests/sim/driver/launch/graph_handle.hpp"
#include "tests/sim/driver/runtime/stream_handle.hpp"

using namespace simgpu;

namespace {

constexpr std::uint64_t kAllFlags =
    CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
    CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;

CUresult instantiate(CUgraphExec* handle, CUgraph graph_handle, std::uint64_t flags) {
    if (!Runtime::get()) return CUDA_ERROR_NOT_INITIALIZED;
    Graph* graph = from_handle<Graph>(graph_handle);
    if (!handle || !graph || (flags & ~kAllFlags) != 0) return CUDA_ERROR_INVALID_VALUE;
    CUresult result = CUDA_SUCCESS;
    auto exec = GraphExec::make(*graph, flags, result);
    if (exec) *handle = handle_of(exec.release());
    return result;
}

CUresult find(CUgraphExec handle, GraphExec*& exec) {
    if (!Runtime::get()) return CUDA_ERROR_NOT_INITIALIZED;
    exec = from_handle<GraphExec>(handle);
    return exec ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult find_node(CUgraphExec handle, CUgraphNode node_handle, GraphExec*& exec, Node*& node) {
    if (const CUresult result = find(handle, exec); result != CUDA_SUCCESS) return result;
    const Node* original = from_handle<Node>(node_handle);
    node = original ? exec->find(*original) : nullptr;
    return node ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/// Only a node whose omission leaves nothing behind can be disabled.
bool can_be_disabled(const Node& node) {
    return std::holds_alternative<KernelStep>(node.step) || std::holds_alternative<CopyStep>(node.step) ||
           std::holds_alternative<Fill>(node.step);
}

}  // namespace

extern "C" {

CUresult cuGraphInstantiateWithFlags(CUgraphExec* exec, CUgraph graph, unsigned long long flags) {
    return instantiate(exec, graph, flags);
}

CUresult cuGraphInstantiate(CUgraphExec* exec, CUgraph graph, CUgraphNode* error_node, char* log,
                            std::size_t log_size) {
    if (error_node) *error_node = nullptr;
    if (log && log_size > 0) *log = '\0';
    return instantiate(exec, graph, 0);
}

CUresult cuGraphInstantiate_v2(CUgraphExec* exec, CUgraph graph, CUgraphNode* error_node, char* log,
                               std::size_t log_size) {
    return cuGraphInstantiate(exec, graph, error_node, log, log_size);
}

CUresult cuGraphUpload(CUgraphExec handle, CUstream stream_handle) {
    GraphExec* exec = nullptr;
    if (const CUresult result = find(handle, exec); result != CUDA_SUCCESS) return result;
    Stream* stream = nullptr;
    if (const CUresult result = find_stream_for_work(stream_handle, stream); result != CUDA_SUCCESS)
        return result;
    if (stream->is_captured()) return lose_capture(*stream, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    return exec->upload(stream->context);
}
SIMGPU_PTSZ(cuGraphUpload, (CUgraphExec exec, CUstream stream), (exec, per_thread(stream)))

CUresult cuGraphInstantiateWithParams(CUgraphExec* exec, CUgraph graph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS* params) {
    if (!params) return CUDA_ERROR_INVALID_VALUE;
    params->hErrNode_out = nullptr;
    CUresult result = instantiate(exec, graph, params->flags);
    params->result_out =
        result == CUDA_SUCCESS ? CUDA_GRAPH_INSTANTIATE_SUCCESS : CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE;
    if (result != CUDA_SUCCESS || (params->flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD) == 0) return result;
    result = cuGraphUpload(*exec, params->hUploadStream);
    if (result != CUDA_SUCCESS) {
        delete from_handle<GraphExec>(*exec);
        *exec = nullptr;
        params->result_out = CUDA_GRAPH_INSTANTIATE_ERROR;
    }
    return result;
}
CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec* exec, CUgraph graph,
                                           CUDA_GRAPH_INSTANTIATE_PARAMS* params) {
    if (!params) return CUDA_ERROR_INVALID_VALUE;
    CUDA_GRAPH_INSTANTIATE_PARAMS own = *params;
    own.hUploadStream = per_thread(own.hUploadStream);
    const CUresult result = cuGraphInstantiateWithParams(exec, graph, &own);
    params->hErrNode_out = own.hErrNode_out;
    params->result_out = own.result_out;
    return result;
}

CUresult cuGraphLaunch(CUgraphExec handle, CUstream stream_handle) {
    GraphExec* exec = nullptr;
    if (const CUresult result = find(handle, exec); result != CUDA_SUCCESS) return result;
    Stream* stream = nullptr;
    if (const CUresult result = find_stream_for_work(stream_handle, stream); result != CUDA_SUCCESS)
        return result;
    if (!stream->is_captured()) return exec->launch(*stream);
    if (exec->graph().has_memory_nodes()) return lose_capture(*stream, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    return capture_step(*stream, ChildStep{exec->graph().clone()});
}
SIMGPU_PTSZ(cuGraphLaunch, (CUgraphExec exec, CUstream stream), (exec, per_thread(stream)))

CUresult cuGraphExecDestroy(CUgraphExec handle) {
    GraphExec* exec = nullptr;
    if (const CUresult result = find(handle, exec); result != CUDA_SUCCESS) return result;
    delete exec;
    return CUDA_SUCCESS;
}

CUresult cuGraphExecGetFlags(CUgraphExec handle, cuuint64_t* flags) {
    GraphExec* exec = nullptr;
    if (const CUresult result = find(handle, exec); result != CUDA_SUCCESS) return result;
    if (!flags) return CUDA_ERROR_INVALID_VALUE;
    *flags = exec->flags();
    return CUDA_SUCCESS;
}

CUresult cuGraphExecUpdate_v2(CUgraphExec handle, CUgraph graph_handle, CUgraphExecUpdateResultInfo* info) {
    GraphExec* exec = nullptr;
    if (const CUresult result = find(handle, exec); result != CUDA_SUCCESS) return result;
    const Graph* graph = from_handle<Graph>(graph_handle);
    if (!info || !graph) return CUDA_ERROR_INVALID_VALUE;
    *info = update_graph(exec->graph(), *graph);
    return info->result == CU_GRAPH_EXEC_UPDATE_SUCCESS ? CUDA_SUCCESS : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
}

CUresult cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode* error_node,
                           CUgraphExecUpdateResult* update_result) {
    CUgraphExecUpdateResultInfo info{};
    const CUresult result = cuGraphExecUpdate_v2(exec, graph, &info);
    if (error_node) *error_node = info.errorNode;
    if (update_result) *update_result = info.result;
    return result;
}

CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec handle, CUgraphNode node_handle,
                                            CUgraph child_handle) {
    GraphExec* exec = nullptr;
    Node* node = nullptr;
    if (const CUresult result = find_node(handle, node_handle, exec, node); result != CUDA_SUCCESS)
        return result;
    const Graph* child = from_handle<Graph>(child_handle);
    const auto* step = std::get_if<ChildStep>(&node->step);
    if (!child || !step) return CUDA_ERROR_INVALID_VALUE;
    const auto info = update_graph(*step->graph, *child);
    return info.result == CU_GRAPH_EXEC_UPDATE_SUCCESS ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphNodeSetEnabled(CUgraphExec handle, CUgraphNode node_handle, unsigned int enabled) {
    GraphExec* exec = nullptr;
    Node* node = nullptr;
    if (const CUresult result = find_node(handle, node_handle, exec, node); result != CUDA_SUCCESS)
        return result;
    if (!can_be_disabled(*node)) return CUDA_ERROR_INVALID_VALUE;
    node->enabled = enabled != 0;
    exec->plan_again();
    return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetEnabled(CUgraphExec handle, CUgraphNode node_handle, unsigned int* enabled) {
    GraphExec* exec = nullptr;
    Node* node = nullptr;
    if (const CUresult result = find_node(handle, node_handle, exec, node); result != CUDA_SUCCESS)
        return result;
    if (!enabled) return CUDA_ERROR_INVALID_VALUE;
    *enabled = node->enabled;
    return CUDA_SUCCESS;
}

}  // extern "C"
