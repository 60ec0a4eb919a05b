#include "tests/sim/driver/memory/memory.hpp"

#include "tests/sim/device/ledger/ledger.hpp"
#include "tests/sim/driver/graph/capture.hpp"
#include "tests/sim/driver/runtime/runtime.hpp"

using namespace simgpu;

namespace {

CUresult allocate(CUdeviceptr* pointer, std::size_t bytes, MemoryKind kind) {
    Context* context = nullptr;
    if (const CUresult result = current_context(context); result != CUDA_SUCCESS) return result;
    if (const CUresult result = check_unsafe_call(); result != CUDA_SUCCESS) return result;
    if (!pointer) return CUDA_ERROR_INVALID_VALUE;
    std::uint64_t address = 0;
    const CUresult result = context->runtime().memory().allocate(*context, bytes, kind, address);
    if (result == CUDA_SUCCESS) *pointer = address;
    return result;
}

}  // namespace

extern "C" {

CUresult cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
    Context* context = nullptr;
    if (const CUresult result = current_context(context); result != CUDA_SUCCESS) return result;
    Runtime& runtime = context->runtime();
    const std::uint64_t all = runtime.device().card(context->gpu()).memory_bytes;
    Session session(runtime.device());
    Ledger ledger(session);
    ledger.reap(runtime.slot());
    if (free) *free = all - ledger.used_bytes(context->gpu());
    if (total) *total = all;
    return CUDA_SUCCESS;
}

CUresult cuMemAlloc_v2(CUdeviceptr* pointer, std::size_t bytes) {
    return allocate(pointer, bytes, MemoryKind::plain);
}

CUresult cuMemAllocManaged(CUdeviceptr* pointer, std::size_t bytes, unsigned int flags) {
    if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST) return CUDA_ERROR_INVALID_VALUE;
    return allocate(pointer, bytes, MemoryKind::managed);
}

CUresult cuMemAllocPitch_v2(CUdeviceptr* pointer, std::size_t* pitch, std::size_t width, std::size_t height,
                            unsigned int element_bytes) {
    if (!pitch || width == 0 || height == 0) return CUDA_ERROR_INVALID_VALUE;
    if (element_bytes != 4 && element_bytes != 8 && element_bytes != 16) return CUDA_ERROR_INVALID_VALUE;
    const std::size_t row = round_up(width, kGranule);
    const CUresult result = allocate(pointer, row * height, MemoryKind::plain);
    if (result == CUDA_SUCCESS) *pitch = row;
    return result;
}

CUresult cuMemFree_v2(CUdeviceptr pointer) {
    Runtime* runtime = Runtime::get();
    if (!runtime) return CUDA_ERROR_NOT_INITIALIZED;
    if (const CUresult result = check_unsafe_call(); result != CUDA_SUCCESS) return result;
    if (pointer == 0) return CUDA_SUCCESS;
    const auto allocation = runtime->memory().find(pointer);
    if (!allocation || allocation->address != pointer || !allocation->can_be_freed())
        return CUDA_ERROR_INVALID_VALUE;
    allocation->context->synchronize();
    const CUresult result = allocation->kind == MemoryKind::graph ? runtime->graph_memory().free(pointer)
                                                                  : runtime->memory().free(pointer);
    runtime->synchronized();
    return result;
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr* base, std::size_t* size, CUdeviceptr pointer) {
    Context* context = nullptr;
    if (const CUresult result = current_context(context); result != CUDA_SUCCESS) return result;
    const auto allocation = context->runtime().memory().find(pointer);
    if (!allocation) return CUDA_ERROR_NOT_FOUND;
    if (base) *base = allocation->address;
    if (size) *size = allocation->size;
    return CUDA_SUCCESS;
}

CUresult cuMemHostAlloc(void** pointer, std::size_t bytes, unsigned int flags) {
    Context* context = nullptr;
    if (const CUresult result = current_context(context); result != CUDA_SUCCESS) return result;
    if (const CUresult result = check_unsafe_call(); result != CUDA_SUCCESS) return result;
    if (!pointer) return CUDA_ERROR_INVALID_VALUE;
    return context->runtime().memory().allocate_host(*context, bytes, flags, *pointer);
}

CUresult cuMemAllocHost_v2(void** pointer, std::size_t bytes) { return cuMemHostAlloc(pointer, bytes, 0); }

CUresult cuMemFreeHost(void* pointer) {
    Context* context = nullptr;
    if (const CUresult result = current_context(context); result != CUDA_SUCCESS) return result;
    if (const CUresult result = check_wait(*context); result != CUDA_SUCCESS) return result;
    context->synchronize();
    return context->runtime().memory().free_host(pointer, MemoryKind::host);
}

CUresult cuMemHostRegister_v2(void* pointer, std::size_t bytes, unsigned int flags) {
    Context* context = nullptr;
    if (const CUresult result = current_context(context); result != CUDA_SUCCESS) return result;
    return context->runtime().memory().register_host(*context, pointer, bytes, flags);
}

CUresult cuMemHostRegister(void* pointer, std::size_t bytes, unsigned int flags) {
    return cuMemHostRegister_v2(pointer, bytes, flags);
}

CUresult cuMemHostUnregister(void* pointer) {
    Context* context = nullptr;
    if (const CUresult result = current_context(context); result != CUDA_SUCCESS) return result;
    return context->runtime().memory().free_host(pointer, MemoryKind::registered);
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* device, void* host, unsigned int flags) {
    Context* context = nullptr;
    if (const CUresult result = current_context(context); result != CUDA_SUCCESS) return result;
    const auto address = reinterpret_cast<std::uint64_t>(host);
    const auto allocation = context->runtime().memory().find(address);
    if (!device || flags != 0 || !allocation || !allocation->on_host()) return CUDA_ERROR_INVALID_VALUE;
    *device = address;
    return CUDA_SUCCESS;
}

CUresult cuMemHostGetFlags(unsigned int* flags, void* host) {
    Context* context = nullptr;
    if (const CUresult result = current_context(context); result != CUDA_SUCCESS) return result;
    const auto allocation = context->runtime().memory().find(reinterpret_cast<std::uint64_t>(host));
    if (!flags || !allocation || !allocation->on_host()) return CUDA_ERROR_INVALID_VALUE;
    *flags = allocation->flags;
    return CUDA_SUCCESS;
}

}  // extern "C"
