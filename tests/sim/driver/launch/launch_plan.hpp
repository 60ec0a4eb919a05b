#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <vector>

#include "tests/sim/driver/graph/graph.hpp"

namespace simgpu {

/// How the nodes of a graph are assigned to streams: a chain to one stream, branches to several streams. A
/// node waits only for nodes that are submitted before it, so two nodes that share a hardware queue cannot
/// wait for each other.
class LaunchPlan {
  public:
    static constexpr std::size_t kMostLanes = 8;

    /// A node that does something; nodes are submitted in this order.
    struct Item {
        Node* node;
        std::size_t lane;
        std::vector<std::size_t> waits;  ///< Items of other lanes, one of each lane at most.
    };

    LaunchPlan() = default;
    /// Plans the graph's enabled nodes; the nodes of children take the place of their parents.
    explicit LaunchPlan(const Graph& graph);

    const std::vector<Item>& items() const { return items_; }
    std::size_t lane_count() const { return lanes_.size(); }
    Context& lane_context(std::size_t lane) const { return *lanes_[lane].context; }

  private:
    using Items = std::set<std::size_t>;
    struct Lane {
        Context* context;
        std::size_t tail;  ///< Its latest item.
    };

    Items add_graph(const Graph& graph, const Items& entry);
    Items add_node(Node& node, const Items& dependencies);
    std::size_t lane_for(const Node& node, const Items& dependencies);

    std::vector<Item> items_;
    std::vector<Lane> lanes_;
    std::size_t next_reused_ = 0;
};

}  // namespace simgpu
