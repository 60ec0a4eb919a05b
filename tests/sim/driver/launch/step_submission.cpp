#include "tests/sim/driver/launch/step_submission.hpp"

#include "tests/sim/driver/memory/graph_memory.hpp"
#include "tests/sim/driver/module/module.hpp"
#include "tests/sim/driver/runtime/runtime.hpp"
#include "tests/sim/driver/work/copy.hpp"
#include "tests/sim/driver/work/copy_description.hpp"
#include "tests/sim/driver/work/event.hpp"
#include "tests/sim/driver/work/kernel_operation.hpp"
#include "tests/sim/driver/work/stream_memory.hpp"

namespace simgpu {

namespace {

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

CUresult submit_step(Stream& stream, const Step& step, bool own_priority) {
    return std::visit(Submit{stream, own_priority}, step);
}

}  // namespace simgpu
