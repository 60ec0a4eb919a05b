#pragma once

#include <algorithm>
#include <vector>

#include "tests/sim/driver/graph/graph.hpp"
#include "tests/sim/driver/launch/graph_exec.hpp"

namespace simgpu {

inline CUgraphNode handle_of(Node* node) { return reinterpret_cast<CUgraphNode>(node); }
inline CUgraph handle_of(Graph* graph) { return reinterpret_cast<CUgraph>(graph); }
inline CUgraphExec handle_of(GraphExec* exec) { return reinterpret_cast<CUgraphExec>(exec); }

/// Reads the dependencies that a call names. @param data nullptr: plain ones.
/// @return false where one isn't a node of the graph.
inline bool read_edges(const Graph& graph, const CUgraphNode* nodes, const CUgraphEdgeData* data,
                       std::size_t count, std::vector<Edge>& edges) {
    if (count > 0 && !nodes) return false;
    for (std::size_t i = 0; i < count; ++i) {
        Node* node = from_handle<Node>(nodes[i]);
        if (!graph.holds(node)) return false;
        edges.push_back({node, data ? data[i] : CUgraphEdgeData{}});
    }
    return true;
}

/// Returns lists as CUDA's queries do: only the length where the caller has no room for the list; otherwise
/// as many entries as fit, and the rest of the room is zeroed.
template <typename T>
void answer_list(const std::vector<T>& list, T* place, std::size_t room) {
    if (!place) return;
    for (std::size_t i = 0; i < room; ++i) place[i] = i < list.size() ? list[i] : T{};
}

}  // namespace simgpu
