#include "tests/sim/driver/work/stream_memory.hpp"

#include "tests/sim/driver/runtime/runtime.hpp"
#include "tests/sim/driver/work/word_operation.hpp"

namespace simgpu {

namespace {

constexpr unsigned int kCompareMask = 3;

/// @return 0 for operations that touch no word.
std::uint32_t word_bytes(CUstreamBatchMemOpType type) {
    switch (type) {
        case CU_STREAM_MEM_OP_WAIT_VALUE_32:
        case CU_STREAM_MEM_OP_WRITE_VALUE_32:
            return 4;
        case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        case CU_STREAM_MEM_OP_WRITE_VALUE_64:
            return 8;
        case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
        case CU_STREAM_MEM_OP_BARRIER:
            break;
    }
    return 0;
}

bool is_wait(CUstreamBatchMemOpType type) {
    return type == CU_STREAM_MEM_OP_WAIT_VALUE_32 || type == CU_STREAM_MEM_OP_WAIT_VALUE_64;
}

}  // namespace

CUresult check_memory_operation(const Context& context, const CUstreamBatchMemOpParams& operation) {
    const CUstreamBatchMemOpType type = operation.operation;
    if (type < CU_STREAM_MEM_OP_WAIT_VALUE_32 || type > CU_STREAM_MEM_OP_BARRIER)
        return CUDA_ERROR_INVALID_VALUE;
    const std::uint32_t bytes = word_bytes(type);
    if (bytes == 0) return CUDA_SUCCESS;
    // Both kinds of parameters begin alike.
    const CUdeviceptr address = operation.waitValue.address;
    const Memory& memory = context.runtime().memory();
    const CUmemAccess_flags wanted =
        is_wait(type) ? CU_MEM_ACCESS_FLAGS_PROT_READ : CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    if (address % bytes != 0 || !memory.covers(address, bytes) || memory.refuses_all(address, bytes, wanted))
        return CUDA_ERROR_INVALID_VALUE;
    if (is_wait(type) && (operation.waitValue.flags & CU_STREAM_WAIT_VALUE_FLUSH) != 0)
        return CUDA_ERROR_NOT_SUPPORTED;
    return CUDA_SUCCESS;
}

CUresult submit_memory_operation(Stream& stream, const CUstreamBatchMemOpParams& asked) {
    const std::uint32_t bytes = word_bytes(asked.operation);
    if (bytes == 0) return CUDA_SUCCESS;
    Operation operation;
    if (is_wait(asked.operation)) {
        operation.kind = RecordKind::wait_word;
        operation.compare = static_cast<Compare>(asked.waitValue.flags & kCompareMask);
    } else {
        operation.kind = RecordKind::write_word;
    }
    operation.value = bytes == 8 ? asked.waitValue.value64 : asked.waitValue.value;
    take_word(stream.context.runtime(), operation, asked.waitValue.address, bytes);
    stream.context.submit(stream, std::move(operation));
    return CUDA_SUCCESS;
}

}  // namespace simgpu
