#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "tests/sim/driver/base/abi.hpp"
#include "tests/sim/driver/base/tagged.hpp"
#include "tests/sim/driver/graph/graph.hpp"
#include "tests/sim/driver/launch/launch_plan.hpp"

namespace simgpu {

class Queue;
struct Stream;

/// An executable graph: a copy of the graph from which it was made, and the streams of its nodes.
class GraphExec : public Tagged<0x63657865ULL> {
  public:
    /// @param result CUDA_ERROR_INVALID_VALUE where the graph has a cycle, is a child, is captured into, or
    /// allocates memory and has an executable graph already; nullptr is returned then.
    static std::unique_ptr<GraphExec> make(Graph& source, std::uint64_t flags, CUresult& result);
    ~GraphExec();

    std::uint64_t flags() const { return flags_; }
    Graph& graph() { return *graph_; }
    /// Returns the node that stands for one of the original graph; nullptr: none.
    Node* find(const Node& node) const { return graph_->copy_of(node.id); }
    /// Call it after nodes were enabled or disabled.
    void plan_again();

    /// Charges the memory of the graph's allocation nodes and the code of its kernels.
    CUresult upload(Context& context);
    CUresult launch(Stream& stream);

  private:
    GraphExec(Graph& source, std::uint64_t flags);
    CUresult load_code() const;
    CUresult ready_allocations(Stream& stream);
    std::vector<Stream*> streams_for(Stream& stream) const;
    CUresult submit_nodes(const std::vector<Stream*>& streams, Stream& main);

    std::uint64_t flags_;
    std::unique_ptr<Graph> graph_;
    std::shared_ptr<std::atomic<unsigned int>> instances_;
    LaunchPlan plan_;
    std::vector<std::shared_ptr<GraphAllocation>> allocations_;
    std::mutex mutex_;
    Queue* last_queue_ = nullptr;  ///< With last_: the end of the latest launch.
    std::uint64_t last_ = 0;
};

/// Copies the parameters of a graph of the same form into an executable graph.
CUgraphExecUpdateResultInfo update_graph(Graph& target, const Graph& source);

}  // namespace simgpu
