// Graphs: their nodes and edges.
#include "tests/sim/driver/graph/graph.hpp"

#include <memory>

#include "tests/sim/driver/launch/graph_handle.hpp"
#include "tests/sim/driver/runtime/runtime.hpp"

using namespace simgpu;

namespace {

template <typename Object, typename Handle>
CUresult find(Handle handle, Object*& object) {
    if (!Runtime::get()) return CUDA_ERROR_NOT_INITIALIZED;
    object = from_handle<Object>(handle);
    return object ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult answer_nodes(const std::vector<CUgraphNode>& list, CUgraphNode* nodes, std::size_t* count) {
    if (!count) return CUDA_ERROR_INVALID_VALUE;
    answer_list(list, nodes, *count);
    *count = nodes ? std::min(*count, list.size()) : list.size();
    return CUDA_SUCCESS;
}

/// @param from with `to` and `data`: where the edges are written; nullptr: none of these is written.
CUresult answer_edges(const std::vector<Edge>& edges, const std::vector<CUgraphNode>& ends, CUgraphNode* from,
                      CUgraphNode* to, CUgraphEdgeData* data, std::size_t* count) {
    if (!count || (data && !from)) return CUDA_ERROR_INVALID_VALUE;
    std::vector<CUgraphNode> beginnings;
    std::vector<CUgraphEdgeData> all_data;
    for (const Edge& edge : edges) {
        if (from && !data && !edge.is_plain()) return CUDA_ERROR_LOSSY_QUERY;
        beginnings.push_back(handle_of(edge.from));
        all_data.push_back(edge.data);
    }
    const bool has_room = from || to;
    answer_list(beginnings, from, *count);
    answer_list(ends, to, *count);
    answer_list(all_data, data, *count);
    *count = has_room ? std::min(*count, edges.size()) : edges.size();
    return CUDA_SUCCESS;
}

CUresult change_edges(CUgraph handle, const CUgraphNode* from, const CUgraphNode* to,
                      const CUgraphEdgeData* data, std::size_t count, bool add) {
    Graph* graph = nullptr;
    if (const CUresult result = find(handle, graph); result != CUDA_SUCCESS) return result;
    std::vector<Edge> edges;
    std::vector<Edge> ends;
    if (!read_edges(*graph, from, data, count, edges) || !read_edges(*graph, to, nullptr, count, ends))
        return CUDA_ERROR_INVALID_VALUE;
    if (!add && graph->has_memory_nodes()) return CUDA_ERROR_NOT_SUPPORTED;
    for (std::size_t i = 0; i < count; ++i) {
        Node& end = *ends[i].from;
        if (!(add ? graph->add_edge(edges[i], end) : graph->remove_edge(edges[i], end)))
            return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

std::vector<Edge> dependents_of(const Node& node) {
    std::vector<Edge> found;
    for (const auto& other : node.graph.nodes()) {
        for (const Edge& edge : other->dependencies) {
            if (edge.from == &node) found.push_back({other.get(), edge.data});
        }
    }
    return found;
}

}  // namespace

extern "C" {

CUresult cuGraphCreate(CUgraph* graph, unsigned int flags) {
    if (!Runtime::get()) return CUDA_ERROR_NOT_INITIALIZED;
    if (!graph || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    *graph = handle_of(new Graph);
    return CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph handle) {
    Graph* graph = nullptr;
    if (const CUresult result = find(handle, graph); result != CUDA_SUCCESS) return result;
    if (graph->parent || graph->is_captured_into) return CUDA_ERROR_INVALID_VALUE;
    delete graph;
    return CUDA_SUCCESS;
}

CUresult cuGraphClone(CUgraph* clone, CUgraph handle) {
    Graph* graph = nullptr;
    if (const CUresult result = find(handle, graph); result != CUDA_SUCCESS) return result;
    if (!clone) return CUDA_ERROR_INVALID_VALUE;
    if (graph->has_memory_nodes()) return CUDA_ERROR_NOT_SUPPORTED;
    *clone = handle_of(graph->clone().release());
    return CUDA_SUCCESS;
}

CUresult cuGraphNodeFindInClone(CUgraphNode* found, CUgraphNode original_handle, CUgraph clone_handle) {
    Node* original = nullptr;
    Graph* clone = nullptr;
    if (const CUresult result = find(original_handle, original); result != CUDA_SUCCESS) return result;
    if (const CUresult result = find(clone_handle, clone); result != CUDA_SUCCESS) return result;
    Node* copy = clone->copy_of(original->id);
    if (!found || !clone->is_clone || !copy) return CUDA_ERROR_INVALID_VALUE;
    *found = handle_of(copy);
    return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetType(CUgraphNode handle, CUgraphNodeType* type) {
    Node* node = nullptr;
    if (const CUresult result = find(handle, node); result != CUDA_SUCCESS) return result;
    if (!type) return CUDA_ERROR_INVALID_VALUE;
    *type = type_of(node->step);
    return CUDA_SUCCESS;
}

CUresult cuGraphGetNodes(CUgraph handle, CUgraphNode* nodes, std::size_t* count) {
    Graph* graph = nullptr;
    if (const CUresult result = find(handle, graph); result != CUDA_SUCCESS) return result;
    std::vector<CUgraphNode> all;
    for (const auto& node : graph->nodes()) all.push_back(handle_of(node.get()));
    return answer_nodes(all, nodes, count);
}

CUresult cuGraphGetRootNodes(CUgraph handle, CUgraphNode* nodes, std::size_t* count) {
    Graph* graph = nullptr;
    if (const CUresult result = find(handle, graph); result != CUDA_SUCCESS) return result;
    std::vector<CUgraphNode> roots;
    for (const auto& node : graph->nodes()) {
        if (node->dependencies.empty()) roots.push_back(handle_of(node.get()));
    }
    return answer_nodes(roots, nodes, count);
}

CUresult cuGraphGetEdges_v2(CUgraph handle, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* data,
                            std::size_t* count) {
    Graph* graph = nullptr;
    if (const CUresult result = find(handle, graph); result != CUDA_SUCCESS) return result;
    if ((from == nullptr) != (to == nullptr)) return CUDA_ERROR_INVALID_VALUE;
    std::vector<Edge> edges;
    std::vector<CUgraphNode> ends;
    for (const auto& node : graph->nodes()) {
        for (const Edge& edge : node->dependencies) {
            edges.push_back(edge);
            ends.push_back(handle_of(node.get()));
        }
    }
    return answer_edges(edges, ends, from, to, data, count);
}
CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode* from, CUgraphNode* to, std::size_t* count) {
    return cuGraphGetEdges_v2(graph, from, to, nullptr, count);
}

CUresult cuGraphNodeGetDependencies_v2(CUgraphNode handle, CUgraphNode* nodes, CUgraphEdgeData* data,
                                       std::size_t* count) {
    Node* node = nullptr;
    if (const CUresult result = find(handle, node); result != CUDA_SUCCESS) return result;
    return answer_edges(node->dependencies, {}, nodes, nullptr, data, count);
}
CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode* nodes, std::size_t* count) {
    return cuGraphNodeGetDependencies_v2(node, nodes, nullptr, count);
}

CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode handle, CUgraphNode* nodes, CUgraphEdgeData* data,
                                         std::size_t* count) {
    Node* node = nullptr;
    if (const CUresult result = find(handle, node); result != CUDA_SUCCESS) return result;
    return answer_edges(dependents_of(*node), {}, nodes, nullptr, data, count);
}
CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode* nodes, std::size_t* count) {
    return cuGraphNodeGetDependentNodes_v2(node, nodes, nullptr, count);
}

CUresult cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                   const CUgraphEdgeData* data, std::size_t count) {
    return change_edges(graph, from, to, data, count, true);
}
CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                std::size_t count) {
    return change_edges(graph, from, to, nullptr, count, true);
}

CUresult cuGraphRemoveDependencies_v2(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                      const CUgraphEdgeData* data, std::size_t count) {
    return change_edges(graph, from, to, data, count, false);
}
CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                   std::size_t count) {
    return change_edges(graph, from, to, nullptr, count, false);
}

CUresult cuGraphDestroyNode(CUgraphNode handle) {
    Node* node = nullptr;
    if (const CUresult result = find(handle, node); result != CUDA_SUCCESS) return result;
    if (node->graph.is_captured_into) return CUDA_ERROR_INVALID_VALUE;
    if (node->graph.has_memory_nodes()) return CUDA_ERROR_NOT_SUPPORTED;
    node->graph.remove(*node);
    return CUDA_SUCCESS;
}

}  // extern "C"
