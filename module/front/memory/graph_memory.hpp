#pragma once

#include <atomic>
#include <cstdint>

#include "core/wire/limits.hpp"
#include "module/front/base/waiting.hpp"
#include "module/front/driver/cuda_abi.hpp"

namespace cgpu::front {

struct Pool;

/// Memory of graphs' allocation nodes. The driver takes it from the card at a graph's first launch or upload
/// and keeps it for later ones until it is trimmed (CUDA Programming Guide, "Graph Memory Nodes"). One figure
/// per device has the memory taken (CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT), which is charged as a pool.
class GraphMemory {
  public:
    constexpr GraphMemory() = default;

    /// Bytes by GPU.
    struct Bytes {
        std::uint64_t on[wire::kMaxGpus] = {};
    };

    /// From now on a graph of this process may have allocation nodes. Before that nothing here costs
    /// anything.
    void expect() { expected_.store(true, std::memory_order_relaxed); }
    [[nodiscard]] bool expected() const { return expected_.load(std::memory_order_relaxed); }

    /// Runs `make`, a driver call that instantiates the graph as *exec; `uploads`: it also takes the memory
    /// at once.
    template <class Make>
    CUresult instantiated(CUgraphExec* exec, CUgraph graph, bool uploads, Make make) {
        if (!expected() || exec == nullptr) return make();
        const Uncancelled uncancelled;
        Bytes need;
        if (const CUresult failed = measure(graph, need); failed != kSuccess) return failed;
        Bytes reserved;
        if (uploads) reserved = need;
        if (const CUresult refused = reserve_all(reserved); refused != kSuccess) return refused;
        const CUresult result = make();
        settle(need, reserved);
        if (result == kSuccess) note(*exec, need, uploads);
        return result;
    }

    /// Runs `call`, a launch or an upload.
    template <class Call>
    CUresult launched(CUgraphExec exec, Call call) {
        if (!expected()) return call();
        const Uncancelled uncancelled;
        Launch launch;
        if (!find(exec, launch)) return call();
        if (const CUresult refused = reserve_all(launch.lacking); refused != kSuccess) return refused;
        const CUresult result = call();
        settle(launch.need, launch.lacking);
        if (result == kSuccess) note_memory(exec, launch.gone);
        return result;
    }

    /// Call before the program destroys it: its handle can be another graph's at once.
    void forget(CUgraphExec exec);

    void reset_in_child();

  private:
    struct Executable;
    struct Launch {
        Bytes need;     ///< what the graph's allocation nodes take at most
        Bytes lacking;  ///< the part of it that the driver may have to take now
        Bytes gone;     ///< the amounts released on the cards before
    };

    /// The maximum memory of the graph's allocation nodes.
    static CUresult measure(CUgraph graph, Bytes& need);
    static CUresult reserve_all(const Bytes& bytes);
    /// Charges what the driver has taken on the GPUs of `need`; ends the reservations.
    static void settle(const Bytes& need, const Bytes& reserved);
    /// The amounts that the driver was seen to release on each card.
    static Bytes gone_so_far();

    void note(CUgraphExec exec, const Bytes& need, bool has_memory);
    /// False: it has no allocation nodes.
    bool find(CUgraphExec exec, Launch& launch);
    void note_memory(CUgraphExec exec, const Bytes& gone);

    std::atomic<bool> expected_{false};
    Mutex mutex_;
    Executable* executables_ = nullptr;
};

GraphMemory& graph_memory();

}  // namespace cgpu::front
