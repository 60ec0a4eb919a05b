#pragma once

#include "tests/sim/driver/runtime/runtime.hpp"

namespace simgpu {

/// @return what the call has to return where the handle isn't one of a pool that can be used.
inline CUresult find_pool(CUmemoryPool handle, Pool*& pool) {
    if (!Runtime::get()) return CUDA_ERROR_NOT_INITIALIZED;
    pool = from_handle<Pool>(handle);
    return pool && pool->usable() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

inline CUmemoryPool handle_of(Pool& pool) { return reinterpret_cast<CUmemoryPool>(&pool); }

}  // namespace simgpu
