#include "tests/sim/driver/memory/graph_memory.hpp"

#include <cstring>

#include "tests/sim/driver/runtime/runtime.hpp"

using namespace simgpu;

namespace {

CUresult check(CUdevice device, Runtime*& runtime) {
    runtime = Runtime::get();
    if (!runtime) return CUDA_ERROR_NOT_INITIALIZED;
    return runtime->is_ordinal(device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

}  // namespace

extern "C" {

CUresult cuDeviceGraphMemTrim(CUdevice device) {
    Runtime* runtime = nullptr;
    if (const CUresult result = check(device, runtime); result != CUDA_SUCCESS) return result;
    runtime->graph_memory().trim(static_cast<std::uint32_t>(device));
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute, void* value) {
    Runtime* runtime = nullptr;
    if (const CUresult result = check(device, runtime); result != CUDA_SUCCESS) return result;
    if (!value) return CUDA_ERROR_INVALID_VALUE;
    runtime->observer().observe();
    const GraphMemory::Usage usage = runtime->graph_memory().usage(static_cast<std::uint32_t>(device));
    const auto answer = [value](cuuint64_t number) {
        std::memcpy(value, &number, sizeof number);
        return CUDA_SUCCESS;
    };
    switch (attribute) {
        case CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT:
            return answer(usage.used);
        case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH:
            return answer(usage.used_high);
        case CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT:
            return answer(usage.reserved);
        case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH:
            return answer(usage.reserved_high);
    }
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute, void* value) {
    Runtime* runtime = nullptr;
    if (const CUresult result = check(device, runtime); result != CUDA_SUCCESS) return result;
    if (!value) return CUDA_ERROR_INVALID_VALUE;
    cuuint64_t number = 0;
    std::memcpy(&number, value, sizeof number);
    if (number != 0) return CUDA_ERROR_INVALID_VALUE;
    GraphMemory& memory = runtime->graph_memory();
    if (attribute == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH) {
        memory.reset_used_high(static_cast<std::uint32_t>(device));
    } else if (attribute == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH) {
        memory.reset_reserved_high(static_cast<std::uint32_t>(device));
    } else {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

}  // extern "C"
