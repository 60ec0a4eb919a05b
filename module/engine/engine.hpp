#pragma once

#include <cstddef>
#include <utility>

#include "module/engine/compute/gpu_compute.hpp"
#include "module/engine/memory/accounting.hpp"

namespace cgpu::module {

/// All state that the engine keeps for a process.
struct Engine {
    explicit Engine(const EngineHost& from) : Engine(from, std::make_index_sequence<wire::kMaxGpus>()) {}

    /// Null for an index that no GPU can have.
    GpuCompute* gpu(std::uint32_t index) { return index < wire::kMaxGpus ? &gpus[index] : nullptr; }
    GpuCompute* gpu_of(BatchId batch) { return gpu(Batches::tag_of(batch)); }

    const EngineHost host;
    Accounting accounting;
    GpuCompute gpus[wire::kMaxGpus];

  private:
    template <std::size_t... Index>
    Engine(const EngineHost& from, std::index_sequence<Index...>)
        : host(from), accounting(from), gpus{GpuCompute(from, static_cast<std::uint32_t>(Index))...} {}
};

}  // namespace cgpu::module
