// Legacy sharing of memory between processes: a handle of 64 bytes names it.
#include <cstring>

#include "tests/sim/driver/graph/capture.hpp"
#include "tests/sim/driver/runtime/runtime.hpp"

using namespace simgpu;

namespace {

/// The contents of a CUipcMemHandle.
struct SharedAllocation {
    std::uint64_t process_serial;  ///< Of the exporter.
    std::uint64_t segment_serial;
    std::uint64_t offset;
    std::uint64_t size;
    std::uint32_t segment_index;
};
static_assert(sizeof(SharedAllocation) <= sizeof(CUipcMemHandle));

std::uint64_t own_serial(Runtime& runtime) {
    return runtime.device().layout().processes[runtime.slot()].serial;
}

}  // namespace

extern "C" {

CUresult cuIpcGetMemHandle(CUipcMemHandle* handle, CUdeviceptr pointer) {
    Context* context = nullptr;
    if (const CUresult result = current_context(context); result != CUDA_SUCCESS) return result;
    if (!handle) return CUDA_ERROR_INVALID_VALUE;
    Runtime& runtime = context->runtime();
    SegmentName name{};
    SharedAllocation shared{};
    const CUresult result = runtime.memory().share(pointer, name, shared.offset, shared.size);
    if (result != CUDA_SUCCESS) return result;
    shared.process_serial = own_serial(runtime);
    shared.segment_serial = name.serial;
    shared.segment_index = name.index;
    std::memset(handle, 0, sizeof *handle);
    std::memcpy(handle, &shared, sizeof shared);
    return CUDA_SUCCESS;
}

CUresult cuIpcOpenMemHandle_v2(CUdeviceptr* pointer, CUipcMemHandle handle, unsigned int flags) {
    Context* context = nullptr;
    if (const CUresult result = current_context(context); result != CUDA_SUCCESS) return result;
    if (!pointer || flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) return CUDA_ERROR_INVALID_VALUE;
    SharedAllocation shared;
    std::memcpy(&shared, &handle, sizeof shared);
    Runtime& runtime = context->runtime();
    // A process cannot open its own memory.
    if (shared.process_serial == own_serial(runtime)) return CUDA_ERROR_INVALID_CONTEXT;
    std::uint64_t address = 0;
    const CUresult result = runtime.memory().open_ipc(*context, {shared.segment_index, shared.segment_serial},
                                                      shared.offset, shared.size, address);
    if (result == CUDA_SUCCESS) *pointer = address;
    return result;
}

CUresult cuIpcOpenMemHandle(CUdeviceptr* pointer, CUipcMemHandle handle, unsigned int flags) {
    return cuIpcOpenMemHandle_v2(pointer, handle, flags);
}

CUresult cuIpcCloseMemHandle(CUdeviceptr pointer) {
    Context* context = nullptr;
    if (const CUresult result = current_context(context); result != CUDA_SUCCESS) return result;
    if (const CUresult result = check_unsafe_call(); result != CUDA_SUCCESS) return result;
    context->synchronize();
    return context->runtime().memory().close_ipc(pointer);
}

}  // extern "C"
