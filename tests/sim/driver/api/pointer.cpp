#include <cstring>

#include "tests/sim/driver/runtime.hpp"

using namespace simgpu;

namespace {

template <typename T>
CUresult answer(void* data, T value) {
    std::memcpy(data, &value, sizeof value);  // NOLINT(bugprone-sizeof-expression): some answers are pointers
    return CUDA_SUCCESS;
}

CUresult attribute_of(const Allocation& memory, std::uint64_t pointer, CUpointer_attribute attribute,
                      void* data) {
    switch (static_cast<int>(attribute)) {
        case CU_POINTER_ATTRIBUTE_CONTEXT:
            return answer(data, memory.context);
        case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
            return answer<unsigned int>(data, memory.on_host() ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
        case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
            return answer<CUdeviceptr>(data, pointer);
        case CU_POINTER_ATTRIBUTE_HOST_POINTER:
            if (!memory.on_host() && memory.kind != MemoryKind::managed) return CUDA_ERROR_INVALID_VALUE;
            return answer(data, pointer);
        case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
            return answer(data, 0);
        case CU_POINTER_ATTRIBUTE_BUFFER_ID:
            return answer<unsigned long long>(data, memory.id);
        case CU_POINTER_ATTRIBUTE_IS_MANAGED:
            return answer<int>(data, memory.kind == MemoryKind::managed);
        case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
            return answer(data, static_cast<int>(memory.ordinal));
        case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
            return answer<CUdeviceptr>(data, memory.address);
        case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
            return answer<std::size_t>(data, memory.size);
        case CU_POINTER_ATTRIBUTE_MAPPED:
            return answer(data, 1);
        case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
            return answer(data, memory.pool);
    }
    return CUDA_ERROR_NOT_SUPPORTED;
}

}  // namespace

extern "C" {

CUresult cuPointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr pointer) {
    Runtime* runtime = Runtime::get();
    if (!runtime) return CUDA_ERROR_NOT_INITIALIZED;
    if (!data) return CUDA_ERROR_INVALID_VALUE;
    const auto memory = runtime->memory().find(pointer);
    return memory ? attribute_of(*memory, pointer, attribute, data) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuPointerGetAttributes(unsigned int count, CUpointer_attribute* attributes, void** data,
                                CUdeviceptr pointer) {
    Runtime* runtime = Runtime::get();
    if (!runtime) return CUDA_ERROR_NOT_INITIALIZED;
    if (!attributes || !data) return CUDA_ERROR_INVALID_VALUE;
    const auto memory = runtime->memory().find(pointer);
    for (unsigned int i = 0; i < count; ++i) {
        const bool answered =
            memory && attribute_of(*memory, pointer, attributes[i], data[i]) == CUDA_SUCCESS;
        // A pointer that the driver doesn't know, or an attribute it doesn't have, reads as nothing here.
        if (!answered && attributes[i] == CU_POINTER_ATTRIBUTE_MEMORY_TYPE) answer(data[i], 0U);
        if (!answered && attributes[i] == CU_POINTER_ATTRIBUTE_IS_MANAGED) answer(data[i], 0);
        if (!answered && attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL) answer(data[i], -2);
        if (!answered && (attributes[i] == CU_POINTER_ATTRIBUTE_CONTEXT ||
                          attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_POINTER ||
                          attributes[i] == CU_POINTER_ATTRIBUTE_HOST_POINTER)) {
            answer<std::uint64_t>(data[i], 0);
        }
    }
    return CUDA_SUCCESS;
}

CUresult cuPointerSetAttribute(const void* value, CUpointer_attribute attribute, CUdeviceptr pointer) {
    Runtime* runtime = Runtime::get();
    if (!runtime) return CUDA_ERROR_NOT_INITIALIZED;
    if (!value || attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS) return CUDA_ERROR_INVALID_VALUE;
    return runtime->memory().find(pointer) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // extern "C"
