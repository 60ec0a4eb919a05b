#pragma once

#include "tests/sim/driver/runtime/runtime.hpp"

namespace simgpu {

/// @return the result of the call where the handle is not one of a usable pool.
inline CUresult find_pool(CUmemoryPool handle, Pool*& pool) {
    if (!Runtime::get()) return CUDA_ERROR_NOT_INITIALIZED;
    pool = from_handle<Pool>(handle);
    return pool && pool->usable() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

inline CUmemoryPool handle_of(Pool& pool) { return reinterpret_cast<CUmemoryPool>(&pool); }

}  // namespace simgpu
