#include "tests/sim/driver/launch/launch_plan.hpp"

#include <algorithm>

namespace simgpu {

LaunchPlan::LaunchPlan(const Graph& graph) { add_graph(graph, {}); }

/// @return the operations whose completion means that the whole graph has completed.
LaunchPlan::Items LaunchPlan::add_graph(const Graph& graph, const Items& entry) {
    std::map<const Node*, Items> ends;
    Items all_ends;
    std::set<const Node*> inner;
    for (Node* node : graph.in_order()) {
        Items dependencies;
        for (const Edge& edge : node->dependencies) {
            dependencies.insert(ends[edge.from].begin(), ends[edge.from].end());
            inner.insert(edge.from);
        }
        if (node->dependencies.empty()) dependencies = entry;
        ends[node] = add_node(*node, dependencies);
    }
    if (ends.empty()) return entry;
    for (const auto& [node, end] : ends) {
        if (!inner.contains(node)) all_ends.insert(end.begin(), end.end());
    }
    return all_ends;
}

LaunchPlan::Items LaunchPlan::add_node(Node& node, const Items& dependencies) {
    if (!node.enabled || std::holds_alternative<EmptyStep>(node.step)) return dependencies;
    if (const auto* child = std::get_if<ChildStep>(&node.step)) return add_graph(*child->graph, dependencies);
    const std::size_t lane = lane_for(node, dependencies);
    std::map<std::size_t, std::size_t> latest;  // of each other lane
    for (const std::size_t dependency : dependencies) {
        if (items_[dependency].lane != lane) latest[items_[dependency].lane] = dependency;
    }
    Item item{&node, lane, {}};
    for (const auto& [other, dependency] : latest) item.waits.push_back(dependency);
    items_.push_back(std::move(item));
    lanes_[lane].tail = items_.size() - 1;
    return {items_.size() - 1};
}

/// Returns the lane of a predecessor that has no successor yet, otherwise a new lane while there is one.
std::size_t LaunchPlan::lane_for(const Node& node, const Items& dependencies) {
    for (const std::size_t dependency : dependencies) {
        const Lane& lane = lanes_[items_[dependency].lane];
        if (lane.tail == dependency && lane.context == &node.context) return items_[dependency].lane;
    }
    if (lanes_.size() >= kMostLanes) {
        for (std::size_t tried = 0; tried < lanes_.size(); ++tried) {
            const std::size_t lane = next_reused_++ % lanes_.size();
            if (lanes_[lane].context == &node.context) return lane;
        }
    }
    lanes_.push_back({&node.context, 0});
    return lanes_.size() - 1;
}

}  // namespace simgpu
