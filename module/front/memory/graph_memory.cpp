#include "module/front/memory/graph_memory.hpp"

#include <algorithm>
#include <new>

#include "module/front/driver/real_driver.hpp"
#include "module/front/lease/pools.hpp"
#include "module/front/lease/reserve.hpp"
#include "module/front/session/session.hpp"

namespace cgpu::front {
namespace real {
CGPU_REAL(cuGraphGetNodes, CUgraph, CUgraphNode*, std::size_t*)
CGPU_REAL(cuGraphNodeGetType, CUgraphNode, int*)
CGPU_REAL(cuGraphMemAllocNodeGetParams, CUgraphNode, CUmemAllocNodeParams*)
CGPU_REAL(cuGraphChildGraphNodeGetGraph, CUgraphNode, CUgraph*)
}  // namespace real

namespace {

constinit GraphMemory the_graph_memory;

}  // namespace

/// An executable graph with allocation nodes.
struct GraphMemory::Executable {
    CUgraphExec handle;
    Bytes need;
    bool has_memory;  ///< it has been launched or uploaded ...
    Bytes gone;       ///< ... when the driver had released this much
    Executable* next;
};

GraphMemory& graph_memory() { return the_graph_memory; }

CUresult GraphMemory::measure(CUgraph graph, Bytes& need) {
    std::size_t count = 0;
    if (const CUresult failed = real::cuGraphGetNodes(graph, nullptr, &count); failed != kSuccess)
        return failed;
    if (count == 0) return kSuccess;
    auto* nodes = new (std::nothrow) CUgraphNode[count];
    if (nodes == nullptr) return kOutOfMemory;
    CUresult result = real::cuGraphGetNodes(graph, nodes, &count);
    for (std::size_t i = 0; i < count && result == kSuccess; ++i) {
        int type = 0;
        result = real::cuGraphNodeGetType(nodes[i], &type);
        if (result == kSuccess && type == kGraphNodeMemoryAlloc) {
            CUmemAllocNodeParams what{};
            result = real::cuGraphMemAllocNodeGetParams(nodes[i], &what);
            const int gpu = session().gpu_of(what.pool.location.id);
            if (result == kSuccess && gpu != kForeignGpu && session().isolates(gpu))
                need.on[gpu] += wire::align_up(what.bytes);
        } else if (result == kSuccess && type == kGraphNodeGraph) {
            CUgraph child = nullptr;
            result = real::cuGraphChildGraphNodeGetGraph(nodes[i], &child);
            if (result == kSuccess) result = measure(child, need);
        }
    }
    delete[] nodes;
    return result;
}

CUresult GraphMemory::reserve_all(const Bytes& bytes) {
    for (int gpu = 0; gpu < static_cast<int>(wire::kMaxGpus); ++gpu) {
        if (bytes.on[gpu] == 0) continue;
        const CUresult refused = reserve(gpu, bytes.on[gpu]);
        if (refused == kSuccess) continue;
        while (--gpu >= 0)
            if (bytes.on[gpu] > 0) session().engine().cancel(static_cast<std::uint32_t>(gpu), bytes.on[gpu]);
        return refused;
    }
    return kSuccess;
}

void GraphMemory::settle(const Bytes& need, const Bytes& reserved) {
    for (int gpu = 0; gpu < static_cast<int>(wire::kMaxGpus); ++gpu) {
        if (need.on[gpu] == 0) continue;
        Pool* pool = pools().note_of_graphs(gpu);
        if (pool == nullptr) {
            session().engine().cancel(static_cast<std::uint32_t>(gpu), reserved.on[gpu]);
            continue;
        }
        // The driver may move memory between graphs at any launch. Memory that it takes for that can't be
        // undone.
        const std::uint64_t lack = pools().look(*pool, reserved.on[gpu]);
        if (lack > 0 && !ask_for(gpu, lack, ask_deadline())) pools().trim(gpu);
    }
}

GraphMemory::Bytes GraphMemory::gone_so_far() {
    Bytes gone;
    for (int gpu = 0; gpu < static_cast<int>(session().gpu_count()); ++gpu)
        gone.on[gpu] = pools().gone_from_graphs(gpu);
    return gone;
}

void GraphMemory::note(CUgraphExec exec, const Bytes& need, bool has_memory) {
    const bool none =
        std::all_of(std::begin(need.on), std::end(need.on), [](auto bytes) { return bytes == 0; });
    if (none) return;
    auto* executable = new (std::nothrow) Executable{exec, need, has_memory, gone_so_far(), nullptr};
    if (executable == nullptr) return;  // found by reconciling
    const Locked lock(mutex_);
    executable->next = executables_;
    executables_ = executable;
}

bool GraphMemory::find(CUgraphExec exec, Launch& launch) {
    launch.gone = gone_so_far();
    const Locked lock(mutex_);
    for (const Executable* each = executables_; each != nullptr; each = each->next) {
        if (each->handle != exec) continue;
        launch.need = launch.lacking = each->need;
        if (!each->has_memory) return true;
        // It can have lost at most what the driver has released since.
        for (std::size_t gpu = 0; gpu < wire::kMaxGpus; ++gpu)
            launch.lacking.on[gpu] = std::min(launch.need.on[gpu], launch.gone.on[gpu] - each->gone.on[gpu]);
        return true;
    }
    return false;
}

void GraphMemory::note_memory(CUgraphExec exec, const Bytes& gone) {
    const Locked lock(mutex_);
    for (Executable* each = executables_; each != nullptr; each = each->next) {
        if (each->handle != exec) continue;
        each->has_memory = true;
        each->gone = gone;
    }
}

void GraphMemory::forget(CUgraphExec exec) {
    if (!expected()) return;
    const Locked lock(mutex_);
    for (Executable** place = &executables_; *place != nullptr; place = &(*place)->next) {
        if ((*place)->handle != exec) continue;
        Executable* gone = *place;
        *place = gone->next;
        delete gone;
        return;
    }
}

void GraphMemory::reset_in_child() {
    mutex_.reset_in_child();
    executables_ = nullptr;
    expected_.store(false);
}

}  // namespace cgpu::front
