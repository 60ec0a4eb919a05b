#include "tests/sim/driver/base/function_table.hpp"
#include "tests/sim/driver/runtime/runtime.hpp"

using namespace simgpu;

extern "C" {

CUresult cuInit(unsigned int flags) { return flags == 0 ? Runtime::initialize() : CUDA_ERROR_INVALID_VALUE; }

CUresult cuDriverGetVersion(int* version) {
    if (!version) return CUDA_ERROR_INVALID_VALUE;
    *version = static_cast<int>(kCudaVersion);
    return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult error, const char** name) {
    if (!name) return CUDA_ERROR_INVALID_VALUE;
    switch (static_cast<int>(error)) {
#define SIMGPU_ERROR(constant, value, text) \
    case value:                             \
        *name = #constant;                  \
        return CUDA_SUCCESS;
#include "tests/sim/include/simgpu/cuda_errors.inc"
#undef SIMGPU_ERROR
    }
    *name = nullptr;
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char** string) {
    if (!string) return CUDA_ERROR_INVALID_VALUE;
    switch (static_cast<int>(error)) {
#define SIMGPU_ERROR(constant, value, text) \
    case value:                             \
        *string = text;                     \
        return CUDA_SUCCESS;
#include "tests/sim/include/simgpu/cuda_errors.inc"
#undef SIMGPU_ERROR
    }
    *string = nullptr;
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetExportTable(const void** table, const CUuuid*) {
    if (table) *table = nullptr;
    return CUDA_ERROR_NOT_FOUND;
}

}  // extern "C"
