#include <cstring>

#include "tests/sim/driver/runtime/pool_handle.hpp"

using namespace simgpu;

extern "C" {

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
