#include <algorithm>

#include "tests/sim/driver/module/module.hpp"
#include "tests/sim/driver/runtime/runtime.hpp"

using namespace simgpu;

namespace {

template <typename Handle>
CUresult find(Handle handle, Function*& function) {
    if (!Runtime::get()) return CUDA_ERROR_NOT_INITIALIZED;
    function = from_handle<Function>(handle);
    return function ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

/// An attribute is known when the function's code is loaded.
CUresult load_here(const Function& function) {
    Context* context = nullptr;
    // Without a current context the simulator answers all the same.
    if (current_context(context) != CUDA_SUCCESS) return CUDA_SUCCESS;
    return context->own_memory.load(function);
}

CUresult attribute_value(int* value, CUfunction_attribute attribute, const Function& function) {
    if (!value || attribute >= CU_FUNC_ATTRIBUTE_MAX) return CUDA_ERROR_INVALID_VALUE;
    switch (static_cast<int>(attribute)) {
        case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
            *value = 1024;
            break;
        case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
            *value = static_cast<int>(function.local_bytes);
            break;
        case CU_FUNC_ATTRIBUTE_NUM_REGS:
            *value = 32;
            break;
        case CU_FUNC_ATTRIBUTE_PTX_VERSION:
        case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
            *value = 70;
            break;
        default:
            *value = 0;
    }
    return CUDA_SUCCESS;
}

template <typename Handle>
CUresult name_of(const char** name, Handle handle) {
    Function* function = nullptr;
    if (const CUresult result = find(handle, function); result != CUDA_SUCCESS) return result;
    if (!name) return CUDA_ERROR_INVALID_VALUE;
    *name = function->name.c_str();
    return CUDA_SUCCESS;
}

template <typename Handle>
CUresult parameter_of(Handle handle, std::size_t index, std::size_t* offset, std::size_t* size) {
    Function* function = nullptr;
    if (const CUresult result = find(handle, function); result != CUDA_SUCCESS) return result;
    const auto& parameters = function->kernel.parameters;
    if (!offset || index >= parameters.size()) return CUDA_ERROR_INVALID_VALUE;
    *offset = parameters[index].offset;
    if (size) *size = parameters[index].size;
    return CUDA_SUCCESS;
}

CUresult blocks_per_multiprocessor(int* blocks, CUfunction handle, int block_size) {
    Function* function = nullptr;
    if (const CUresult result = find(handle, function); result != CUDA_SUCCESS) return result;
    if (!blocks || block_size < 1) return CUDA_ERROR_INVALID_VALUE;
    *blocks = block_size > 1024 ? 0 : std::min(32, static_cast<int>(kThreadsPerMultiprocessor) / block_size);
    return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction handle) {
    Function* function = nullptr;
    CUresult result = find(handle, function);
    if (result == CUDA_SUCCESS) result = load_here(*function);
    return result == CUDA_SUCCESS ? attribute_value(value, attribute, *function) : result;
}

CUresult cuKernelGetAttribute(int* value, CUfunction_attribute attribute, CUkernel handle, CUdevice) {
    Function* function = nullptr;
    CUresult result = find(handle, function);
    if (result == CUDA_SUCCESS) result = load_here(*function);
    return result == CUDA_SUCCESS ? attribute_value(value, attribute, *function) : result;
}

CUresult cuFuncSetAttribute(CUfunction handle, CUfunction_attribute, int) {
    Function* function = nullptr;
    return find(handle, function);
}

CUresult cuKernelSetAttribute(CUfunction_attribute, int, CUkernel handle, CUdevice) {
    Function* function = nullptr;
    return find(handle, function);
}

CUresult cuFuncSetCacheConfig(CUfunction handle, int) {
    Function* function = nullptr;
    return find(handle, function);
}

CUresult cuFuncGetName(const char** name, CUfunction handle) { return name_of(name, handle); }

CUresult cuKernelGetName(const char** name, CUkernel handle) { return name_of(name, handle); }

CUresult cuFuncGetModule(CUmodule* module, CUfunction handle) {
    Function* function = nullptr;
    if (const CUresult result = find(handle, function); result != CUDA_SUCCESS) return result;
    if (!module) return CUDA_ERROR_INVALID_VALUE;
    *module = reinterpret_cast<CUmodule>(&function->module);
    return CUDA_SUCCESS;
}

CUresult cuFuncGetParamInfo(CUfunction handle, std::size_t index, std::size_t* offset, std::size_t* size) {
    return parameter_of(handle, index, offset, size);
}

CUresult cuKernelGetParamInfo(CUkernel handle, std::size_t index, std::size_t* offset, std::size_t* size) {
    return parameter_of(handle, index, offset, size);
}

CUresult cuFuncIsLoaded(int* state, CUfunction handle) {
    Function* function = nullptr;
    if (const CUresult result = find(handle, function); result != CUDA_SUCCESS) return result;
    if (!state) return CUDA_ERROR_INVALID_VALUE;
    *state = 1;
    return CUDA_SUCCESS;
}

CUresult cuFuncLoad(CUfunction handle) {
    Function* function = nullptr;
    if (const CUresult result = find(handle, function); result != CUDA_SUCCESS) return result;
    Context* context = nullptr;
    const CUresult result = current_context(context);
    return result == CUDA_SUCCESS ? context->own_memory.load(*function) : result;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction handle, int block_size,
                                                     std::size_t) {
    return blocks_per_multiprocessor(blocks, handle, block_size);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction handle, int block_size,
                                                              std::size_t, unsigned int) {
    return blocks_per_multiprocessor(blocks, handle, block_size);
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, CUfunction handle,
                                                   std::size_t (*)(int), std::size_t, int limit,
                                                   unsigned int) {
    Context* context = nullptr;
    if (const CUresult result = current_context(context); result != CUDA_SUCCESS) return result;
    if (!from_handle<Function>(handle)) return CUDA_ERROR_INVALID_HANDLE;
    if (!grid || !block) return CUDA_ERROR_INVALID_VALUE;
    *block = limit > 0 ? std::min(limit, 1024) : 1024;
    *grid = context->runtime().card(context->ordinal()).sm_count *
            (static_cast<int>(kThreadsPerMultiprocessor) / *block);
    return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxPotentialBlockSize(int* grid, int* block, CUfunction handle,
                                          std::size_t (*shared_bytes)(int), std::size_t dynamic_bytes,
                                          int limit) {
    return cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block, handle, shared_bytes, dynamic_bytes, limit,
                                                     0);
}

}  // extern "C"
