#include <cstring>

#include "tests/sim/driver/runtime/runtime.hpp"

using namespace simgpu;

namespace {

template <typename T>
CUresult answer(void* data, T value) {
    std::memcpy(data, &value, sizeof value);  // NOLINT(bugprone-sizeof-expression): some answers are pointers
    return CUDA_SUCCESS;
}

/// Handle types that the memory may be exported as, as a bit mask.
unsigned long long handle_types_of(const Allocation& memory, const std::optional<Mapping>& mapping) {
    if (mapping) return mapping->physical->properties.requestedHandleTypes;
    const bool shared_pool = memory.pool && memory.pool->properties().shared_serial != 0;
    return shared_pool ? CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR : CU_MEM_HANDLE_TYPE_NONE;
}

/// Returns how the GPU of the current context may access it, or GPU 0 where there is no context.
CUmemAccess_flags access_to(const Allocation& memory, const std::optional<Mapping>& mapping) {
    Context* context = nullptr;
    const std::uint32_t ordinal = current_context(context) == CUDA_SUCCESS ? context->ordinal() : 0;
    if (mapping) return mapping->access.of(ordinal);
    return memory.pool ? memory.pool->access().of(ordinal) : CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
}

CUresult attribute_of(Runtime& runtime, const Allocation& memory, std::uint64_t pointer,
                      CUpointer_attribute attribute, void* data) {
    const bool mapped = memory.kind == MemoryKind::mapped;
    const auto mapping = mapped ? runtime.virtual_memory().mapping_at(pointer) : std::nullopt;
    const bool on_host = memory.on_host() || memory.ordinal == kMaxGpus;
    switch (static_cast<int>(attribute)) {
        case CU_POINTER_ATTRIBUTE_CONTEXT:
            return answer(data, memory.context);
        case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
            return answer<unsigned int>(data, on_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
        case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
            if (access_to(memory, mapping) == CU_MEM_ACCESS_FLAGS_PROT_NONE) return CUDA_ERROR_INVALID_VALUE;
            return answer<CUdeviceptr>(data, pointer);
        case CU_POINTER_ATTRIBUTE_HOST_POINTER:
            if (!on_host && memory.kind != MemoryKind::managed) return CUDA_ERROR_INVALID_VALUE;
            return answer(data, pointer);
        case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
            return answer(data, 0);
        case CU_POINTER_ATTRIBUTE_BUFFER_ID:
        case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
            return answer<unsigned long long>(data, memory.id);
        case CU_POINTER_ATTRIBUTE_IS_MANAGED:
            return answer<int>(data, memory.kind == MemoryKind::managed);
        case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
            return answer(data, memory.ordinal == kMaxGpus ? -1 : static_cast<int>(memory.ordinal));
        case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
            return answer<int>(data, memory.kind == MemoryKind::plain);
        case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
            return answer<CUdeviceptr>(data, memory.address);
        case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
            return answer<std::size_t>(data, memory.size);
        case CU_POINTER_ATTRIBUTE_MAPPED:
            return answer(data, 1);
        case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
            return answer(data, handle_types_of(memory, mapping));
        case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
            return answer<int>(data, access_to(memory, mapping));
        case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
            return answer(data, memory.pool);
    }
    return CUDA_ERROR_NOT_SUPPORTED;
}

/// For an address in reserved space some attributes describe the reservation, whatever is mapped there.
CUresult attribute_at(Runtime& runtime, std::uint64_t pointer, CUpointer_attribute attribute, void* data) {
    const auto memory = runtime.memory().find(pointer);
    const auto reservation = runtime.virtual_memory().reservation_at(pointer);
    if (reservation && attribute == CU_POINTER_ATTRIBUTE_RANGE_START_ADDR) {
        return answer<CUdeviceptr>(data, reservation->address);
    }
    if (reservation && attribute == CU_POINTER_ATTRIBUTE_RANGE_SIZE) {
        return answer<std::size_t>(data, reservation->size);
    }
    if (memory) return attribute_of(runtime, *memory, pointer, attribute, data);
    if (reservation && attribute == CU_POINTER_ATTRIBUTE_MAPPED) return answer(data, 0);
    return CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

extern "C" {

CUresult cuPointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr pointer) {
    Runtime* runtime = Runtime::get();
    if (!runtime) return CUDA_ERROR_NOT_INITIALIZED;
    if (!data) return CUDA_ERROR_INVALID_VALUE;
    return attribute_at(*runtime, pointer, attribute, data);
}

CUresult cuPointerGetAttributes(unsigned int count, CUpointer_attribute* attributes, void** data,
                                CUdeviceptr pointer) {
    Runtime* runtime = Runtime::get();
    if (!runtime) return CUDA_ERROR_NOT_INITIALIZED;
    if (!attributes || !data) return CUDA_ERROR_INVALID_VALUE;
    for (unsigned int i = 0; i < count; ++i) {
        const bool answered = attribute_at(*runtime, pointer, attributes[i], data[i]) == CUDA_SUCCESS;
        // For a pointer that the driver does not know, or an attribute that it lacks, the result is zero.
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
