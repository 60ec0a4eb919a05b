#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "tests/sim/driver/base/abi.hpp"
#include "tests/sim/driver/base/tagged.hpp"
#include "tests/sim/driver/graph/step.hpp"

namespace simgpu {

class Context;
class Graph;
struct Node;

/// An edge from an earlier node to the node that holds it.
struct Edge {
    Node* from;
    CUgraphEdgeData data;  ///< Kept and shown; every edge counts as a full dependency.

    bool is_plain() const { return data.from_port == 0 && data.to_port == 0 && data.type == 0; }
};

struct Node : Tagged<0x65646f6eULL> {
    Node(Graph& owner, Context& where, Step what);

    Graph& graph;
    Context& context;
    Step step;
    std::vector<Edge> dependencies;
    const std::uint64_t id;    ///< Never used twice.
    std::uint64_t origin = 0;  ///< In a copy of a graph: id of the node that this one was copied from.
    bool enabled = true;       ///< Of executable graphs: whether a launch does it.
    std::vector<void*> shown_parameters;  ///< What a reader of a kernel node's parameters was given.
};

/// A graph while it is built. In CUDA programs must not use one graph from two threads at a time; the same
/// holds here.
class Graph : public Tagged<0x6870617267ULL> {
  public:
    /// @return nullptr where a dependency isn't one of this graph's nodes, or is named twice.
    Node* add(Context& context, Step step, const std::vector<Edge>& dependencies);
    void remove(Node& node);

    bool add_edge(const Edge& edge, Node& to);
    bool remove_edge(const Edge& edge, Node& to);
    bool holds(const Node* node) const { return node && &node->graph == this; }

    const std::vector<std::unique_ptr<Node>>& nodes() const { return nodes_; }
    bool has_memory_nodes() const;
    /// Returns the nodes in an order in which each comes after what it depends on, otherwise in the order of
    /// creation.
    /// @return nothing where there is a cycle.
    std::vector<Node*> in_order() const;

    /// Returns a copy, children included. Its nodes record their origins.
    std::unique_ptr<Graph> clone() const;
    /// Returns the node of this copy (or of its children) whose origin is `id`; nullptr: none.
    Node* copy_of(std::uint64_t id) const;

    Node* parent = nullptr;         ///< The node that this is the child graph of.
    bool is_captured_into = false;  ///< Between the beginning and the end of a capture.
    bool is_clone = false;
    /// The number of existing executable graphs that were made from it; they may outlive it.
    std::shared_ptr<std::atomic<unsigned int>> instances = std::make_shared<std::atomic<unsigned int>>(0);

  private:
    std::vector<std::unique_ptr<Node>> nodes_;
};

}  // namespace simgpu
