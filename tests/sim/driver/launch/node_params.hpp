#pragma once

#include "tests/sim/driver/base/abi.hpp"
#include "tests/sim/driver/graph/graph.hpp"

namespace simgpu {

class Pool;
struct Stream;

// Conversion between CUDA's structures of node parameters and steps. Reading checks what CUDA checks when a
// node is made.

CUresult read_params(const CUDA_KERNEL_NODE_PARAMS& params, KernelStep& step);
CUresult read_params(const CUDA_MEMSET_NODE_PARAMS& params, Fill& step);
CUresult read_params(const CUDA_MEMCPY3D& params, CopyStep& step);
CUresult read_params(const Context& context, const CUDA_BATCH_MEM_OP_NODE_PARAMS& params,
                     MemoryOperationsStep& step);
/// Makes the allocation, and writes its address to `params`.
CUresult read_params(Context& context, CUDA_MEM_ALLOC_NODE_PARAMS& params, AllocateStep& step);
/// @param graph to which the node is added.
CUresult read_free(Context& context, const Graph& graph, CUdeviceptr address, FreeStep& step);
/// All parameters, as cuGraphAddNode gets them; results of CUDA are written back.
CUresult read_params(Context& context, Graph& graph, CUgraphNodeParams& params, Step& step);

/// cuMemAllocAsync in a captured stream: the node gets the properties of the pool, but not its memory.
CUresult capture_allocation(Stream& stream, const Pool& pool, std::size_t bytes, CUdeviceptr& pointer);

void show_params(Node& node, CUDA_KERNEL_NODE_PARAMS& params);
void show_params(const Fill& step, CUDA_MEMSET_NODE_PARAMS& params);

}  // namespace simgpu
