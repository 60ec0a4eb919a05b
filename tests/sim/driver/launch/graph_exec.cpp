#include "tests/sim/driver/launch/graph_exec.hpp"

#include <algorithm>

#include "tests/sim/driver/launch/step_submission.hpp"
#include "tests/sim/driver/memory/graph_memory.hpp"
#include "tests/sim/driver/module/module.hpp"
#include "tests/sim/driver/runtime/runtime.hpp"

namespace simgpu {

namespace {

void collect_allocations(const Graph& graph, std::vector<std::shared_ptr<GraphAllocation>>& all) {
    for (const auto& node : graph.nodes()) {
        if (const auto* step = std::get_if<AllocateStep>(&node->step)) all.push_back(step->allocation);
        if (const auto* child = std::get_if<ChildStep>(&node->step)) collect_allocations(*child->graph, all);
    }
}

bool has_cycle(const Graph& graph) {
    if (!graph.nodes().empty() && graph.in_order().empty()) return true;
    return std::any_of(graph.nodes().begin(), graph.nodes().end(), [](const auto& node) {
        const auto* child = std::get_if<ChildStep>(&node->step);
        return child && has_cycle(*child->graph);
    });
}

}  // namespace

std::unique_ptr<GraphExec> GraphExec::make(Graph& source, std::uint64_t flags, CUresult& result) {
    result = CUDA_ERROR_INVALID_VALUE;
    if (source.is_captured_into || source.parent || has_cycle(source)) return nullptr;
    if (source.has_memory_nodes() && *source.instances > 0) return nullptr;
    result = CUDA_SUCCESS;
    return std::unique_ptr<GraphExec>(new GraphExec(source, flags));
}

GraphExec::GraphExec(Graph& source, std::uint64_t flags)
    : flags_(flags), graph_(source.clone()), instances_(source.instances), plan_(*graph_) {
    ++*instances_;
    collect_allocations(*graph_, allocations_);
}

GraphExec::~GraphExec() { --*instances_; }

void GraphExec::plan_again() {
    const std::lock_guard lock(mutex_);
    plan_ = LaunchPlan(*graph_);
}

CUresult GraphExec::upload(Context& context) {
    const std::lock_guard lock(mutex_);
    const CUresult result = load_code();
    return result == CUDA_SUCCESS ? context.runtime().graph_memory().back(allocations_) : result;
}

/// Takes what the launch of each kernel needs, for all of them before the first one is launched.
CUresult GraphExec::load_code() const {
    for (const LaunchPlan::Item& item : plan_.items()) {
        const auto* kernel = std::get_if<KernelStep>(&item.node->step);
        if (!kernel) continue;
        const CUresult result = item.node->context.own_memory.prepare(*kernel->function);
        if (result != CUDA_SUCCESS) return result;
    }
    return CUDA_SUCCESS;
}

/// A launch must not allocate again what an earlier one has allocated and nobody has freed.
CUresult GraphExec::ready_allocations(Stream& stream) {
    GraphMemory& memory = stream.context.runtime().graph_memory();
    for (const auto& allocation : allocations_) {
        if (!memory.is_live(*allocation)) continue;
        if ((flags_ & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH) == 0) return CUDA_ERROR_INVALID_VALUE;
        const CUresult result = memory.free_in_order(allocation->address, stream);
        if (result != CUDA_SUCCESS) return result;
    }
    return memory.back(allocations_);
}

CUresult GraphExec::launch(Stream& stream) {
    const std::lock_guard lock(mutex_);
    Context& context = stream.context;
    // Launches run one after the other, on whichever streams.
    if (last_queue_) context.submit_wait(stream, *last_queue_, last_);
    CUresult result = load_code();
    if (result == CUDA_SUCCESS) result = ready_allocations(stream);
    if (result != CUDA_SUCCESS) return result;
    GraphMemory& memory = context.runtime().graph_memory();
    memory.launched(allocations_);
    result = submit_nodes(streams_for(stream), stream);
    Operation end;
    end.effect = [&memory, allocations = allocations_](const Record&) { memory.ended(allocations); };
    last_ = context.submit(stream, std::move(end));
    last_queue_ = &stream.queue;
    return result;
}

/// The stream of each lane: the one that is launched into for the first lane of its context.
std::vector<Stream*> GraphExec::streams_for(Stream& stream) const {
    std::vector<Stream*> streams;
    bool is_used = false;
    for (std::size_t lane = 0; lane < plan_.lane_count(); ++lane) {
        Context& context = plan_.lane_context(lane);
        if (!is_used && &context == &stream.context) {
            streams.push_back(&stream);
            is_used = true;
        } else {
            streams.push_back(&context.graph_lane(lane, stream.priority));
        }
    }
    return streams;
}

CUresult GraphExec::submit_nodes(const std::vector<Stream*>& streams, Stream& main) {
    const bool own_priority = (flags_ & CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY) != 0;
    const bool is_alone = streams.empty() || (streams.size() == 1 && streams[0] == &main);
    std::uint64_t begin = 0;
    if (!is_alone) begin = main.context.submit(main, Operation{});
    std::vector<bool> begun(streams.size(), false);
    std::vector<std::uint64_t> tails;
    for (const LaunchPlan::Item& item : plan_.items()) {
        Stream& stream = *streams[item.lane];
        if (&stream != &main && !begun[item.lane]) stream.context.submit_wait(stream, main.queue, begin);
        begun[item.lane] = true;
        for (const std::size_t other : item.waits) {
            if (tails[other] == 0) continue;
            stream.context.submit_wait(stream, streams[plan_.items()[other].lane]->queue, tails[other] - 1);
        }
        const CUresult result = submit_step(stream, item.node->step, own_priority);
        if (result != CUDA_SUCCESS) return result;
        tails.push_back(stream.queue.tail());
    }
    for (const Stream* stream : streams) {
        const std::uint64_t tail = stream->queue.tail();
        if (stream != &main && tail > 0) main.context.submit_wait(main, stream->queue, tail - 1);
    }
    return CUDA_SUCCESS;
}

}  // namespace simgpu
