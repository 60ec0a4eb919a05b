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

/// An executable graph: a copy of the graph that it was made of, and how its nodes are put on streams.
class GraphExec : public Tagged<0x63657865ULL> {
  public:
    /// @param result CUDA_ERROR_INVALID_VALUE where the graph has a cycle, is a child, is captured into, or
    /// allocates memory and has an executable graph already; nullptr is returned then.
    static std::unique_ptr<GraphExec> make(Graph& source, std::uint64_t flags, CUresult& result);
    ~GraphExec();

    std::uint64_t flags() const { return flags_; }
    Graph& graph() { return *graph_; }
    /// The node that stands for one of the graph that this was made of; nullptr: none.
    Node* find(const Node& node) const { return graph_->copy_of(node.id); }
    /// To be called when nodes were enabled or disabled.
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

/// Takes the parameters of a graph of the same form over into an executable graph's own.
CUgraphExecUpdateResultInfo update_graph(Graph& target, const Graph& source);

}  // namespace simgpu
