#include <algorithm>
#include <map>

#include "tests/sim/driver/launch/graph_exec.hpp"

namespace simgpu {

namespace {

CUgraphExecUpdateResultInfo verdict(CUgraphExecUpdateResult result, Node* node = nullptr,
                                    Node* from = nullptr) {
    return {result, reinterpret_cast<CUgraphNode>(node), reinterpret_cast<CUgraphNode>(from)};
}

/// What may not change in a node according to cuGraphExecUpdate's documentation.
struct Comparison {
    CUgraphExecUpdateResult operator()(const KernelStep& old, const KernelStep& fresh) const {
        return old.cooperative == fresh.cooperative ? CU_GRAPH_EXEC_UPDATE_SUCCESS
                                                    : CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED;
    }
    CUgraphExecUpdateResult operator()(const CopyStep& old, const CopyStep& fresh) const {
        const bool same = old.copy.srcMemoryType == fresh.copy.srcMemoryType &&
                          old.copy.dstMemoryType == fresh.copy.dstMemoryType;
        return same ? CU_GRAPH_EXEC_UPDATE_SUCCESS : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
    }
    CUgraphExecUpdateResult operator()(const Fill& old, const Fill& fresh) const {
        const bool flat = old.rows == 1 && fresh.rows == 1;
        const bool same = old.rows == fresh.rows && old.count == fresh.count && old.pitch == fresh.pitch &&
                          old.element_bytes == fresh.element_bytes;
        return flat || same ? CU_GRAPH_EXEC_UPDATE_SUCCESS : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
    }
    CUgraphExecUpdateResult operator()(const AllocateStep& old, const AllocateStep& fresh) const {
        return old.allocation == fresh.allocation ? CU_GRAPH_EXEC_UPDATE_SUCCESS
                                                  : CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED;
    }
    CUgraphExecUpdateResult operator()(const FreeStep& old, const FreeStep& fresh) const {
        return old.address == fresh.address ? CU_GRAPH_EXEC_UPDATE_SUCCESS
                                            : CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED;
    }
    template <typename Old, typename Fresh>
    CUgraphExecUpdateResult operator()(const Old&, const Fresh&) const {
        return CU_GRAPH_EXEC_UPDATE_SUCCESS;
    }
};

CUgraphExecUpdateResultInfo compare_edges(const Node& old, Node& fresh,
                                          const std::map<const Node*, const Node*>& partners) {
    if (old.dependencies.size() != fresh.dependencies.size())
        return verdict(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, &fresh);
    for (std::size_t i = 0; i < old.dependencies.size(); ++i) {
        Node* from = fresh.dependencies[i].from;
        if (partners.at(from) != old.dependencies[i].from)
            return verdict(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, &fresh, from);
    }
    return verdict(CU_GRAPH_EXEC_UPDATE_SUCCESS);
}

CUgraphExecUpdateResultInfo compare_graphs(const Graph& target, const Graph& source) {
    if (target.nodes().size() != source.nodes().size())
        return verdict(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
    std::map<const Node*, const Node*> partners;
    for (std::size_t i = 0; i < source.nodes().size(); ++i) {
        partners[source.nodes()[i].get()] = target.nodes()[i].get();
    }
    for (std::size_t i = 0; i < source.nodes().size(); ++i) {
        Node& fresh = *source.nodes()[i];
        const Node& old = *target.nodes()[i];
        if (type_of(fresh.step) != type_of(old.step))
            return verdict(CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, &fresh);
        auto edges = compare_edges(old, fresh, partners);
        if (edges.result != CU_GRAPH_EXEC_UPDATE_SUCCESS) return edges;
        const auto result = std::visit(Comparison{}, old.step, fresh.step);
        if (result != CU_GRAPH_EXEC_UPDATE_SUCCESS) return verdict(result, &fresh);
        if (&old.context != &fresh.context)
            return verdict(CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED, &fresh);
        if (const auto* child = std::get_if<ChildStep>(&fresh.step)) {
            const auto inner = compare_graphs(*std::get<ChildStep>(old.step).graph, *child->graph);
            if (inner.result != CU_GRAPH_EXEC_UPDATE_SUCCESS) return inner;
        }
    }
    return verdict(CU_GRAPH_EXEC_UPDATE_SUCCESS);
}

void take_over(Graph& target, const Graph& source) {
    for (std::size_t i = 0; i < source.nodes().size(); ++i) {
        Node& old = *target.nodes()[i];
        if (const auto* child = std::get_if<ChildStep>(&source.nodes()[i]->step)) {
            take_over(*std::get<ChildStep>(old.step).graph, *child->graph);
        } else {
            old.step = source.nodes()[i]->step;
        }
    }
}

}  // namespace

CUgraphExecUpdateResultInfo update_graph(Graph& target, const Graph& source) {
    const auto result = compare_graphs(target, source);
    if (result.result == CU_GRAPH_EXEC_UPDATE_SUCCESS) take_over(target, source);
    return result;
}

}  // namespace simgpu
