// Pools that programs make, and which devices may access their memory.
#include "tests/sim/device/ledger/segments.hpp"
#include "tests/sim/driver/base/location.hpp"
#include "tests/sim/driver/runtime/pool_handle.hpp"

using namespace simgpu;

extern "C" {

CUresult cuMemPoolCreate(CUmemoryPool* handle, const CUmemPoolProps* properties) {
    Runtime* runtime = Runtime::get();
    if (!runtime) return CUDA_ERROR_NOT_INITIALIZED;
    if (!handle || !properties || properties->allocType != CU_MEM_ALLOCATION_TYPE_PINNED) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    const bool shared = properties->handleTypes == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    if (!shared && properties->handleTypes != CU_MEM_HANDLE_TYPE_NONE) return CUDA_ERROR_NOT_SUPPORTED;
    const CUresult result = check_location(*runtime, properties->location);
    if (result != CUDA_SUCCESS) return result;
    if (properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_NOT_SUPPORTED;
    Pool::Properties own;
    own.max_size = round_up(properties->maxSize, kBlock);
    if (shared) {
        Session session(runtime->device());
        own.shared_serial = Segments(session).new_serial();
    }
    *handle =
        handle_of(*runtime->memory().create_pool(static_cast<std::uint32_t>(properties->location.id), own));
    return CUDA_SUCCESS;
}

CUresult cuMemPoolSetAccess(CUmemoryPool handle, const CUmemAccessDesc* descriptions, std::size_t count) {
    Pool* pool = nullptr;
    if (const CUresult result = find_pool(handle, pool); result != CUDA_SUCCESS) return result;
    if (!descriptions && count > 0) return CUDA_ERROR_INVALID_VALUE;
    for (std::size_t i = 0; i < count; ++i) {
        const CUmemLocation& location = descriptions[i].location;
        const CUresult result = check_location(*Runtime::get(), location);
        if (result != CUDA_SUCCESS) return result;
        const bool device = location.type == CU_MEM_LOCATION_TYPE_DEVICE;
        if (!device || !are_access_flags(descriptions[i].flags)) return CUDA_ERROR_INVALID_VALUE;
        // The pool's own GPU keeps its access.
        const auto ordinal = static_cast<std::uint32_t>(location.id);
        const bool own = ordinal == pool->ordinal();
        if (own && descriptions[i].flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
            return CUDA_ERROR_INVALID_VALUE;
    }
    for (std::size_t i = 0; i < count; ++i) {
        pool->set_access(static_cast<std::uint32_t>(descriptions[i].location.id), descriptions[i].flags);
    }
    return CUDA_SUCCESS;
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool handle, CUmemLocation* location) {
    Pool* pool = nullptr;
    if (const CUresult result = find_pool(handle, pool); result != CUDA_SUCCESS) return result;
    if (!flags || !location) return CUDA_ERROR_INVALID_VALUE;
    const CUresult result = check_location(*Runtime::get(), *location);
    if (result == CUDA_SUCCESS) *flags = access_of(pool->access(), *location);
    return result;
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

}  // extern "C"
