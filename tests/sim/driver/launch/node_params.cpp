#include "tests/sim/driver/launch/node_params.hpp"

#include <algorithm>

#include "tests/sim/driver/graph/capture.hpp"
#include "tests/sim/driver/memory/graph_memory.hpp"
#include "tests/sim/driver/module/module.hpp"
#include "tests/sim/driver/runtime/runtime.hpp"
#include "tests/sim/driver/work/copy_description.hpp"
#include "tests/sim/driver/work/event.hpp"
#include "tests/sim/driver/work/kernel_step.hpp"
#include "tests/sim/driver/work/stream_memory.hpp"

namespace simgpu {

namespace {

CUfunction handle_of(Function* function) { return reinterpret_cast<CUfunction>(function); }

template <typename Kind>
CUresult read_event_node(CUevent handle, Step& step) {
    Event* event = from_handle<Event>(handle);
    if (!event) return CUDA_ERROR_INVALID_HANDLE;
    step = Kind{event};
    return CUDA_SUCCESS;
}

/// Reads into a step of the kind that the reader makes.
template <typename Kind, typename Reader>
CUresult read_as(Step& step, Reader reader) {
    Kind read{};
    const CUresult result = reader(read);
    if (result == CUDA_SUCCESS) step = std::move(read);
    return result;
}

CUresult read_child(const CUDA_CHILD_GRAPH_NODE_PARAMS& params, const Graph& parent, Step& step) {
    const Graph* child = from_handle<Graph>(params.graph);
    if (!child || child == &parent) return CUDA_ERROR_INVALID_VALUE;
    // Children that are moved to their parent, which may allocate, are not modelled.
    if (params.ownership != 0) return CUDA_ERROR_NOT_SUPPORTED;
    if (child->has_memory_nodes()) return CUDA_ERROR_NOT_SUPPORTED;
    step = ChildStep{child->clone()};
    return CUDA_SUCCESS;
}

}  // namespace

CUresult read_params(const CUDA_KERNEL_NODE_PARAMS& params, KernelStep& step) {
    const CUfunction function = params.func ? params.func : reinterpret_cast<CUfunction>(params.kern);
    return make_kernel_step(function,
                            {{params.gridDimX, params.gridDimY, params.gridDimZ},
                             {params.blockDimX, params.blockDimY, params.blockDimZ}},
                            params.sharedMemBytes, params.kernelParams, params.extra, step);
}

CUresult read_params(const CUDA_MEMSET_NODE_PARAMS& params, Fill& step) {
    const bool known_size = params.elementSize == 1 || params.elementSize == 2 || params.elementSize == 4;
    if (!known_size || params.dst == 0 || params.width == 0 || params.height == 0)
        return CUDA_ERROR_INVALID_VALUE;
    step = {params.dst, params.pitch, params.value, params.elementSize, params.width, params.height};
    return CUDA_SUCCESS;
}

CUresult read_params(const CUDA_MEMCPY3D& params, CopyStep& step) {
    Transfer transfer{};
    if (const CUresult result = transfer_of(params, transfer); result != CUDA_SUCCESS) return result;
    if (transfer.bytes() == 0) return CUDA_ERROR_INVALID_VALUE;
    step = {params};
    return CUDA_SUCCESS;
}

CUresult read_params(const Context& context, const CUDA_BATCH_MEM_OP_NODE_PARAMS& params,
                     MemoryOperationsStep& step) {
    if (!params.paramArray || params.count == 0 || params.flags != 0) return CUDA_ERROR_INVALID_VALUE;
    for (unsigned int i = 0; i < params.count; ++i) {
        const CUresult result = check_memory_operation(context, params.paramArray[i]);
        if (result != CUDA_SUCCESS) return result;
    }
    step.operations.assign(params.paramArray, params.paramArray + params.count);
    return CUDA_SUCCESS;
}

CUresult read_params(Context& context, CUDA_MEM_ALLOC_NODE_PARAMS& params, AllocateStep& step) {
    const CUmemLocation& location = params.poolProps.location;
    Runtime& runtime = context.runtime();
    if (params.bytesize == 0 || location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
        params.poolProps.handleTypes != CU_MEM_HANDLE_TYPE_NONE || !runtime.is_ordinal(location.id))
        return CUDA_ERROR_INVALID_VALUE;
    // Memory of a device that the node's context doesn't belong to would be charged there: not modelled.
    if (static_cast<std::uint32_t>(location.id) != context.ordinal()) return CUDA_ERROR_NOT_SUPPORTED;
    auto allocation = runtime.graph_memory().create(context, params.bytesize);
    if (!allocation) return CUDA_ERROR_OUT_OF_MEMORY;
    params.dptr = allocation->address;
    step = {std::move(allocation), params};
    return CUDA_SUCCESS;
}

CUresult read_free(Context& context, const Graph& graph, CUdeviceptr address, FreeStep& step) {
    const bool is_freed_here =
        std::any_of(graph.nodes().begin(), graph.nodes().end(), [address](const auto& node) {
            const auto* free = std::get_if<FreeStep>(&node->step);
            return free && free->address == address;
        });
    if (is_freed_here || !context.runtime().graph_memory().knows(address)) return CUDA_ERROR_INVALID_VALUE;
    step = {address};
    return CUDA_SUCCESS;
}

CUresult read_params(Context& context, Graph& graph, CUgraphNodeParams& params, Step& step) {
    switch (static_cast<int>(params.type)) {
        case CU_GRAPH_NODE_TYPE_KERNEL:
            return read_as<KernelStep>(step, [&](auto& read) { return read_params(params.kernel, read); });
        case CU_GRAPH_NODE_TYPE_MEMCPY:
            return read_as<CopyStep>(step,
                                     [&](auto& read) { return read_params(params.memcpy.copyParams, read); });
        case CU_GRAPH_NODE_TYPE_MEMSET: {
            const auto& set = params.memset;
            const CUDA_MEMSET_NODE_PARAMS plain{set.dst,         set.pitch, set.value,
                                                set.elementSize, set.width, set.height};
            return read_as<Fill>(step, [&](auto& read) { return read_params(plain, read); });
        }
        case CU_GRAPH_NODE_TYPE_HOST:
            if (!params.host.fn) return CUDA_ERROR_INVALID_VALUE;
            step = HostStep{params.host.fn, params.host.userData};
            return CUDA_SUCCESS;
        case CU_GRAPH_NODE_TYPE_GRAPH:
            return read_child(params.graph, graph, step);
        case CU_GRAPH_NODE_TYPE_EMPTY:
            step = EmptyStep{};
            return CUDA_SUCCESS;
        case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
            return read_event_node<WaitEventStep>(params.eventWait.event, step);
        case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
            return read_event_node<RecordEventStep>(params.eventRecord.event, step);
        case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
            return read_as<AllocateStep>(
                step, [&](auto& read) { return read_params(context, params.alloc, read); });
        case CU_GRAPH_NODE_TYPE_MEM_FREE:
            return read_as<FreeStep>(
                step, [&](auto& read) { return read_free(context, graph, params.free.dptr, read); });
        case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
            return read_as<MemoryOperationsStep>(
                step, [&](auto& read) { return read_params(context, params.memOp, read); });
    }
    return CUDA_ERROR_NOT_SUPPORTED;
}

void show_params(Node& node, CUDA_KERNEL_NODE_PARAMS& params) {
    const auto& step = std::get<KernelStep>(node.step);
    node.shown_parameters = step.pointers();
    const Shape& shape = step.shape;
    params = {handle_of(step.function),
              shape.grid[0],
              shape.grid[1],
              shape.grid[2],
              shape.block[0],
              shape.block[1],
              shape.block[2],
              step.shared_bytes,
              node.shown_parameters.data(),
              nullptr,
              nullptr,
              nullptr};
}

void show_params(const Fill& step, CUDA_MEMSET_NODE_PARAMS& params) {
    params = {step.to,    step.pitch, step.value, static_cast<unsigned int>(step.element_bytes),
              step.count, step.rows};
}

CUresult capture_allocation(Stream& stream, const Pool& pool, std::size_t bytes, CUdeviceptr& pointer) {
    CUDA_MEM_ALLOC_NODE_PARAMS params{};
    params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    params.poolProps.handleTypes =
        pool.properties().shared_serial ? CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR : CU_MEM_HANDLE_TYPE_NONE;
    params.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, static_cast<int>(pool.ordinal())};
    params.bytesize = bytes;
    AllocateStep step{};
    CUresult result = read_params(stream.context, params, step);
    if (result == CUDA_SUCCESS) result = capture_step(stream, std::move(step));
    if (result == CUDA_SUCCESS) pointer = params.dptr;
    return result;
}

}  // namespace simgpu
