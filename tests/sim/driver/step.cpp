#include "tests/sim/driver/step.hpp"

#include <algorithm>

#include "tests/sim/device/address.hpp"
#include "tests/sim/driver/copy_description.hpp"
#include "tests/sim/driver/event.hpp"
#include "tests/sim/driver/graph_memory.hpp"
#include "tests/sim/driver/runtime.hpp"
#include "tests/sim/driver/stream_memory.hpp"

namespace simgpu {

namespace {

struct TypeOf {
    CUgraphNodeType operator()(const KernelStep&) const { return CU_GRAPH_NODE_TYPE_KERNEL; }
    CUgraphNodeType operator()(const CopyStep&) const { return CU_GRAPH_NODE_TYPE_MEMCPY; }
    CUgraphNodeType operator()(const Fill&) const { return CU_GRAPH_NODE_TYPE_MEMSET; }
    CUgraphNodeType operator()(const HostStep&) const { return CU_GRAPH_NODE_TYPE_HOST; }
    CUgraphNodeType operator()(const ChildStep&) const { return CU_GRAPH_NODE_TYPE_GRAPH; }
    CUgraphNodeType operator()(const EmptyStep&) const { return CU_GRAPH_NODE_TYPE_EMPTY; }
    CUgraphNodeType operator()(const WaitEventStep&) const { return CU_GRAPH_NODE_TYPE_WAIT_EVENT; }
    CUgraphNodeType operator()(const RecordEventStep&) const { return CU_GRAPH_NODE_TYPE_EVENT_RECORD; }
    CUgraphNodeType operator()(const AllocateStep&) const { return CU_GRAPH_NODE_TYPE_MEM_ALLOC; }
    CUgraphNodeType operator()(const FreeStep&) const { return CU_GRAPH_NODE_TYPE_MEM_FREE; }
    CUgraphNodeType operator()(const MemoryOperationsStep&) const { return CU_GRAPH_NODE_TYPE_BATCH_MEM_OP; }
};

struct Submit {
    Stream& stream;
    bool own_priority;

    CUresult operator()(const KernelStep& kernel) const {
        auto pointers = kernel.pointers();
        auto operation = kernel_operation(kernel.function->kernel, stream.context, pointers.data(), nullptr);
        if (!operation) return CUDA_ERROR_INVALID_VALUE;
        if (own_priority) operation->priority = static_cast<std::int8_t>(kernel.priority);
        stream.context.submit(stream, std::move(*operation));
        return CUDA_SUCCESS;
    }
    CUresult operator()(const CopyStep& copy) const {
        Transfer transfer{};
        if (const CUresult result = transfer_of(copy.copy, transfer); result != CUDA_SUCCESS) return result;
        return submit_copy(stream, transfer, Completion::in_graph_order);
    }
    CUresult operator()(const Fill& fill) const {
        return submit_set(stream, fill, Completion::in_graph_order);
    }
    CUresult operator()(const HostStep& host) const {
        stream.context.runtime().host_functions().submit(stream, [host] { host.function(host.data); });
        return CUDA_SUCCESS;
    }
    CUresult operator()(const ChildStep&) const { return CUDA_ERROR_NOT_SUPPORTED; }
    CUresult operator()(const EmptyStep&) const { return CUDA_SUCCESS; }
    CUresult operator()(const WaitEventStep& wait) const {
        wait.event->hold(stream);
        return CUDA_SUCCESS;
    }
    CUresult operator()(const RecordEventStep& record) const {
        record.event->record(stream);
        return CUDA_SUCCESS;
    }
    CUresult operator()(const AllocateStep& step) const {
        stream.context.runtime().graph_memory().allocate_in_order(*step.allocation, stream);
        return CUDA_SUCCESS;
    }
    CUresult operator()(const FreeStep& step) const {
        return stream.context.runtime().graph_memory().free_in_order(step.address, stream);
    }
    CUresult operator()(const MemoryOperationsStep& step) const {
        for (const CUstreamBatchMemOpParams& operation : step.operations) {
            CUresult result = check_memory_operation(stream.context, operation);
            if (result == CUDA_SUCCESS) result = submit_memory_operation(stream, operation);
            if (result != CUDA_SUCCESS) return result;
        }
        return CUDA_SUCCESS;
    }
};

}  // namespace

bool Shape::valid() const {
    const std::uint64_t threads = std::uint64_t{block[0]} * block[1] * block[2];
    return grid[0] && grid[1] && grid[2] && threads > 0 && threads <= 1024;
}

std::vector<void*> KernelStep::pointers() const {
    std::vector<void*> all;
    for (const KernelParameter& parameter : function->kernel.parameters) {
        all.push_back(const_cast<std::byte*>(parameters.data()) + parameter.offset);
    }
    return all;
}

CUgraphNodeType type_of(const Step& step) { return std::visit(TypeOf{}, step); }

CUresult submit_step(Stream& stream, const Step& step, bool own_priority) {
    return std::visit(Submit{stream, own_priority}, step);
}

CUresult make_kernel_step(CUfunction handle, const Shape& shape, unsigned int shared_bytes, void** parameters,
                          void** extra, KernelStep& step) {
    Function* function = from_handle<Function>(handle);
    if (!function) return CUDA_ERROR_INVALID_HANDLE;
    if (!shape.valid() || (parameters && extra)) return CUDA_ERROR_INVALID_VALUE;
    auto packed = pack_parameters(function->kernel, parameters, extra);
    if (!packed) return CUDA_ERROR_INVALID_VALUE;
    step = {function, shape, shared_bytes, false, 0, std::move(*packed)};
    return CUDA_SUCCESS;
}

bool fits_at_once(const Context& context, const Shape& shape) {
    const std::uint64_t threads = std::uint64_t{shape.block[0]} * shape.block[1] * shape.block[2];
    const std::uint64_t per_multiprocessor = std::min<std::uint64_t>(32, kThreadsPerMultiprocessor / threads);
    const auto multiprocessors =
        static_cast<std::uint64_t>(context.runtime().card(context.ordinal()).sm_count);
    return shape.blocks() <= multiprocessors * per_multiprocessor;
}

CopyStep copy_step(const Context& context, const Transfer& transfer) {
    const Memory& memory = context.runtime().memory();
    const auto type = [&memory](std::uint64_t address) {
        const auto allocation = memory.find(address);
        return allocation && !allocation->on_host() ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
    };
    CopyStep step{};
    CUDA_MEMCPY3D& copy = step.copy;
    copy.srcMemoryType = type(transfer.from);
    copy.srcHost = at_address<const void>(transfer.from);
    copy.srcDevice = transfer.from;
    copy.srcPitch = transfer.from_pitch;
    copy.srcHeight = transfer.from_pitch ? transfer.from_layer / transfer.from_pitch : 0;
    copy.dstMemoryType = type(transfer.to);
    copy.dstHost = at_address(transfer.to);
    copy.dstDevice = transfer.to;
    copy.dstPitch = transfer.to_pitch;
    copy.dstHeight = transfer.to_pitch ? transfer.to_layer / transfer.to_pitch : 0;
    copy.WidthInBytes = transfer.width;
    copy.Height = transfer.rows;
    copy.Depth = transfer.layers;
    return step;
}

}  // namespace simgpu
