// Allocations from pools, and which pool a device allocates from.
#include "tests/sim/driver/launch/node_params.hpp"
#include "tests/sim/driver/runtime/pool_handle.hpp"
#include "tests/sim/driver/runtime/stream_handle.hpp"

using namespace simgpu;

namespace {

CUresult check_device(CUdevice device, Runtime*& runtime) {
    runtime = Runtime::get();
    if (!runtime) return CUDA_ERROR_NOT_INITIALIZED;
    return runtime->is_ordinal(device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult allocate(CUdeviceptr* pointer, std::size_t bytes, Pool* pool, CUstream handle) {
    Stream* stream = nullptr;
    if (const CUresult result = find_stream_for_work(handle, stream); result != CUDA_SUCCESS) return result;
    if (!pointer || (pool && pool->properties().imported)) return CUDA_ERROR_INVALID_VALUE;
    Memory& memory = stream->context.runtime().memory();
    if (!pool) pool = &memory.current_pool(stream->context.ordinal());
    if (stream->is_captured()) return capture_allocation(*stream, *pool, bytes, *pointer);
    std::uint64_t address = 0;
    const CUresult result = memory.allocate_from(*pool, *stream, bytes, address);
    if (result == CUDA_SUCCESS) *pointer = address;
    return result;
}

/// The location must be a GPU: there are no pools of other memory here.
CUresult check_location(const CUmemLocation* location, CUmemAllocationType type, Runtime*& runtime) {
    if (!location) return CUDA_ERROR_INVALID_VALUE;
    if (location->type != CU_MEM_LOCATION_TYPE_DEVICE || type != CU_MEM_ALLOCATION_TYPE_PINNED) {
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    return check_device(location->id, runtime);
}

}  // namespace

extern "C" {

CUresult cuMemAllocAsync(CUdeviceptr* pointer, std::size_t bytes, CUstream stream) {
    return allocate(pointer, bytes, nullptr, stream);
}
SIMGPU_PTSZ(cuMemAllocAsync, (CUdeviceptr * pointer, std::size_t bytes, CUstream stream),
            (pointer, bytes, per_thread(stream)))

CUresult cuMemAllocFromPoolAsync(CUdeviceptr* pointer, std::size_t bytes, CUmemoryPool handle,
                                 CUstream stream) {
    Pool* pool = nullptr;
    if (const CUresult result = find_pool(handle, pool); result != CUDA_SUCCESS) return result;
    return allocate(pointer, bytes, pool, stream);
}
SIMGPU_PTSZ(cuMemAllocFromPoolAsync,
            (CUdeviceptr * pointer, std::size_t bytes, CUmemoryPool handle, CUstream stream),
            (pointer, bytes, handle, per_thread(stream)))

CUresult cuMemFreeAsync(CUdeviceptr pointer, CUstream handle) {
    Stream* stream = nullptr;
    if (const CUresult result = find_stream_for_work(handle, stream); result != CUDA_SUCCESS) return result;
    if (stream->is_captured()) return capture_step(*stream, FreeStep{pointer});
    Runtime& runtime = stream->context.runtime();
    const auto allocation = runtime.memory().find(pointer);
    if (allocation && allocation->kind == MemoryKind::graph)
        return runtime.graph_memory().free_in_order(pointer, *stream);
    return runtime.memory().free_async(pointer, *stream);
}
SIMGPU_PTSZ(cuMemFreeAsync, (CUdeviceptr pointer, CUstream handle), (pointer, per_thread(handle)))

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* handle, CUdevice device) {
    Runtime* runtime = nullptr;
    if (const CUresult result = check_device(device, runtime); result != CUDA_SUCCESS) return result;
    if (!handle) return CUDA_ERROR_INVALID_VALUE;
    *handle = handle_of(runtime->memory().default_pool(static_cast<std::uint32_t>(device)));
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetMemPool(CUmemoryPool* handle, CUdevice device) {
    Runtime* runtime = nullptr;
    if (const CUresult result = check_device(device, runtime); result != CUDA_SUCCESS) return result;
    if (!handle) return CUDA_ERROR_INVALID_VALUE;
    *handle = handle_of(runtime->memory().current_pool(static_cast<std::uint32_t>(device)));
    return CUDA_SUCCESS;
}

CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool handle) {
    Runtime* runtime = nullptr;
    if (const CUresult result = check_device(device, runtime); result != CUDA_SUCCESS) return result;
    Pool* pool = nullptr;
    if (const CUresult result = find_pool(handle, pool); result != CUDA_SUCCESS) return result;
    if (pool->ordinal() != static_cast<std::uint32_t>(device) || pool->properties().imported) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    runtime->memory().set_current_pool(pool->ordinal(), *pool);
    return CUDA_SUCCESS;
}

CUresult cuMemGetDefaultMemPool(CUmemoryPool* handle, CUmemLocation* location, CUmemAllocationType type) {
    Runtime* runtime = nullptr;
    const CUresult result = check_location(location, type, runtime);
    return result == CUDA_SUCCESS ? cuDeviceGetDefaultMemPool(handle, location->id) : result;
}

CUresult cuMemGetMemPool(CUmemoryPool* handle, CUmemLocation* location, CUmemAllocationType type) {
    Runtime* runtime = nullptr;
    const CUresult result = check_location(location, type, runtime);
    return result == CUDA_SUCCESS ? cuDeviceGetMemPool(handle, location->id) : result;
}

CUresult cuMemSetMemPool(CUmemLocation* location, CUmemAllocationType type, CUmemoryPool handle) {
    Runtime* runtime = nullptr;
    const CUresult result = check_location(location, type, runtime);
    return result == CUDA_SUCCESS ? cuDeviceSetMemPool(location->id, handle) : result;
}

}  // extern "C"
