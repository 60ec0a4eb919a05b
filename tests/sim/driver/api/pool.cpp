#include "tests/sim/driver/pool.hpp"

#include <cstring>

#include "tests/sim/driver/stream_handle.hpp"

using namespace simgpu;

namespace {

CUresult find_pool(CUmemoryPool handle, Pool*& pool) {
    if (!Runtime::get()) return CUDA_ERROR_NOT_INITIALIZED;
    pool = from_handle<Pool>(handle);
    return pool ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult check_device(CUdevice device, Runtime*& runtime) {
    runtime = Runtime::get();
    if (!runtime) return CUDA_ERROR_NOT_INITIALIZED;
    return runtime->is_ordinal(device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult allocate(CUdeviceptr* pointer, std::size_t bytes, Pool* pool, CUstream handle) {
    Stream* stream = nullptr;
    if (const CUresult result = find_stream_for_work(handle, stream); result != CUDA_SUCCESS) return result;
    if (!pointer) return CUDA_ERROR_INVALID_VALUE;
    if (stream->is_captured()) return capture_allocation(*stream, bytes, *pointer);
    Memory& memory = stream->context.runtime().memory();
    if (!pool) pool = &memory.current_pool(stream->context.ordinal());
    std::uint64_t address = 0;
    const CUresult result = memory.allocate_from(*pool, *stream, bytes, address);
    if (result == CUDA_SUCCESS) *pointer = address;
    return result;
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
    *handle =
        reinterpret_cast<CUmemoryPool>(&runtime->memory().default_pool(static_cast<std::uint32_t>(device)));
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetMemPool(CUmemoryPool* handle, CUdevice device) {
    Runtime* runtime = nullptr;
    if (const CUresult result = check_device(device, runtime); result != CUDA_SUCCESS) return result;
    if (!handle) return CUDA_ERROR_INVALID_VALUE;
    *handle =
        reinterpret_cast<CUmemoryPool>(&runtime->memory().current_pool(static_cast<std::uint32_t>(device)));
    return CUDA_SUCCESS;
}

CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool handle) {
    Runtime* runtime = nullptr;
    if (const CUresult result = check_device(device, runtime); result != CUDA_SUCCESS) return result;
    Pool* pool = nullptr;
    if (const CUresult result = find_pool(handle, pool); result != CUDA_SUCCESS) return result;
    if (pool->ordinal() != static_cast<std::uint32_t>(device)) return CUDA_ERROR_INVALID_VALUE;
    runtime->memory().set_current_pool(pool->ordinal(), *pool);
    return CUDA_SUCCESS;
}

CUresult cuMemPoolCreate(CUmemoryPool* handle, const CUmemPoolProps* properties) {
    Runtime* runtime = Runtime::get();
    if (!runtime) return CUDA_ERROR_NOT_INITIALIZED;
    if (!handle || !properties || properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (properties->handleTypes != CU_MEM_HANDLE_TYPE_NONE) return CUDA_ERROR_NOT_SUPPORTED;
    if (!runtime->is_ordinal(properties->location.id)) return CUDA_ERROR_INVALID_DEVICE;
    Pool* pool = runtime->memory().create_pool(static_cast<std::uint32_t>(properties->location.id));
    *handle = reinterpret_cast<CUmemoryPool>(pool);
    return CUDA_SUCCESS;
}

CUresult cuMemPoolDestroy(CUmemoryPool handle) {
    Pool* pool = nullptr;
    if (const CUresult result = find_pool(handle, pool); result != CUDA_SUCCESS) return result;
    Runtime* runtime = Runtime::get();
    if (pool == &runtime->memory().default_pool(pool->ordinal())) return CUDA_ERROR_INVALID_VALUE;
    runtime->memory().destroy_pool(pool);
    return CUDA_SUCCESS;
}

CUresult cuMemPoolTrimTo(CUmemoryPool handle, std::size_t keep) {
    Pool* pool = nullptr;
    if (const CUresult result = find_pool(handle, pool); result != CUDA_SUCCESS) return result;
    Runtime::get()->observer().observe();
    pool->trim(keep);
    return CUDA_SUCCESS;
}

CUresult cuMemPoolGetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void* value) {
    Pool* pool = nullptr;
    if (const CUresult result = find_pool(handle, pool); result != CUDA_SUCCESS) return result;
    if (!value) return CUDA_ERROR_INVALID_VALUE;
    Runtime::get()->observer().observe();
    const Pool::Usage usage = pool->usage();
    const auto answer = [value](cuuint64_t number) {
        std::memcpy(value, &number, sizeof number);
        return CUDA_SUCCESS;
    };
    switch (attribute) {
        case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
        case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
        case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
            *static_cast<int*>(value) = 1;
            return CUDA_SUCCESS;
        case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
            return answer(pool->threshold());
        case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
            return answer(usage.reserved);
        case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
            return answer(usage.reserved_high);
        case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
            return answer(usage.used);
        case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
            return answer(usage.used_high);
    }
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemPoolSetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void* value) {
    Pool* pool = nullptr;
    if (const CUresult result = find_pool(handle, pool); result != CUDA_SUCCESS) return result;
    if (!value) return CUDA_ERROR_INVALID_VALUE;
    cuuint64_t number = 0;
    switch (attribute) {
        case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
        case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
        case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
            return CUDA_SUCCESS;
        case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
            std::memcpy(&number, value, sizeof number);
            pool->set_threshold(number);
            return CUDA_SUCCESS;
        case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
        case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
            std::memcpy(&number, value, sizeof number);
            if (number != 0) return CUDA_ERROR_INVALID_VALUE;
            if (attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH) pool->reset_reserved_high();
            if (attribute == CU_MEMPOOL_ATTR_USED_MEM_HIGH) pool->reset_used_high();
            return CUDA_SUCCESS;
        case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
        case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
            return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

}  // extern "C"
