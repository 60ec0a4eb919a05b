#include "tests/sim/driver/work/stream_memory.hpp"

#include "tests/sim/driver/runtime/stream_handle.hpp"

using namespace simgpu;

namespace {

CUresult submit_all(CUstream handle, const CUstreamBatchMemOpParams* operations, unsigned int count) {
    Stream* stream = nullptr;
    if (const CUresult result = find_stream_for_work(handle, stream); result != CUDA_SUCCESS) return result;
    for (unsigned int i = 0; i < count; ++i) {
        const CUresult result = check_memory_operation(stream->context, operations[i]);
        if (result != CUDA_SUCCESS) return result;
    }
    if (stream->is_captured())
        return capture_step(*stream, MemoryOperationsStep{{operations, operations + count}});
    for (unsigned int i = 0; i < count; ++i) {
        const CUresult result = submit_memory_operation(*stream, operations[i]);
        if (result != CUDA_SUCCESS) return result;
    }
    return CUDA_SUCCESS;
}

CUresult wait_value(CUstream stream, CUstreamBatchMemOpType type, CUdeviceptr address, cuuint64_t value,
                    unsigned int flags) {
    CUstreamBatchMemOpParams operation{};
    operation.waitValue.operation = type;
    operation.waitValue.address = address;
    operation.waitValue.value64 = value;
    operation.waitValue.flags = flags;
    return submit_all(stream, &operation, 1);
}

CUresult write_value(CUstream stream, CUstreamBatchMemOpType type, CUdeviceptr address, cuuint64_t value,
                     unsigned int flags) {
    CUstreamBatchMemOpParams operation{};
    operation.writeValue.operation = type;
    operation.writeValue.address = address;
    operation.writeValue.value64 = value;
    operation.writeValue.flags = flags;
    return submit_all(stream, &operation, 1);
}

}  // namespace

// Both versions of each function do the same here. width: of the value in bits
#define SIMGPU_STREAM_VALUE(function, form, width, type)                                                   \
    CUresult form(CUstream stream, CUdeviceptr address, cuuint##width##_t value, unsigned int flags) {     \
        return function(stream, type, address, value, flags);                                              \
    }                                                                                                      \
    SIMGPU_PTSZ(form, (CUstream stream, CUdeviceptr address, cuuint##width##_t value, unsigned int flags), \
                (per_thread(stream), address, value, flags))

extern "C" {

SIMGPU_STREAM_VALUE(wait_value, cuStreamWaitValue32, 32, CU_STREAM_MEM_OP_WAIT_VALUE_32)
SIMGPU_STREAM_VALUE(wait_value, cuStreamWaitValue32_v2, 32, CU_STREAM_MEM_OP_WAIT_VALUE_32)
SIMGPU_STREAM_VALUE(wait_value, cuStreamWaitValue64, 64, CU_STREAM_MEM_OP_WAIT_VALUE_64)
SIMGPU_STREAM_VALUE(wait_value, cuStreamWaitValue64_v2, 64, CU_STREAM_MEM_OP_WAIT_VALUE_64)
SIMGPU_STREAM_VALUE(write_value, cuStreamWriteValue32, 32, CU_STREAM_MEM_OP_WRITE_VALUE_32)
SIMGPU_STREAM_VALUE(write_value, cuStreamWriteValue32_v2, 32, CU_STREAM_MEM_OP_WRITE_VALUE_32)
SIMGPU_STREAM_VALUE(write_value, cuStreamWriteValue64, 64, CU_STREAM_MEM_OP_WRITE_VALUE_64)
SIMGPU_STREAM_VALUE(write_value, cuStreamWriteValue64_v2, 64, CU_STREAM_MEM_OP_WRITE_VALUE_64)

CUresult cuStreamBatchMemOp(CUstream stream, unsigned int count, CUstreamBatchMemOpParams* operations,
                            unsigned int flags) {
    if (!operations || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    return submit_all(stream, operations, count);
}
SIMGPU_PTSZ(cuStreamBatchMemOp,
            (CUstream stream, unsigned int count, CUstreamBatchMemOpParams* operations, unsigned int flags),
            (per_thread(stream), count, operations, flags))

CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned int count, CUstreamBatchMemOpParams* operations,
                               unsigned int flags) {
    return cuStreamBatchMemOp(stream, count, operations, flags);
}
SIMGPU_PTSZ(cuStreamBatchMemOp_v2,
            (CUstream stream, unsigned int count, CUstreamBatchMemOpParams* operations, unsigned int flags),
            (per_thread(stream), count, operations, flags))

}  // extern "C"
