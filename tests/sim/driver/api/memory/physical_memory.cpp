// Virtual memory management: the handles.
#include "tests/sim/driver/mapping/physical_memory.hpp"

#include <unistd.h>

#include "tests/sim/driver/mapping/shareable_descriptor.hpp"
#include "tests/sim/driver/runtime/runtime.hpp"
#include "tests/sim/model/block_heap.hpp"

using namespace simgpu;

namespace {

/// Finds the memory that the properties request: a GPU's index in the device file, or kHostMemory.
CUresult find_memory(Runtime& runtime, const CUmemAllocationProp& properties, std::uint32_t& gpu) {
    if (properties.type != CU_MEM_ALLOCATION_TYPE_PINNED) return CUDA_ERROR_INVALID_VALUE;
    const bool shareable = properties.requestedHandleTypes != CU_MEM_HANDLE_TYPE_NONE;
    if (shareable && properties.requestedHandleTypes != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) {
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    gpu = kHostMemory;
    switch (properties.location.type) {
        case CU_MEM_LOCATION_TYPE_DEVICE:
            if (!runtime.is_ordinal(properties.location.id)) return CUDA_ERROR_INVALID_DEVICE;
            gpu = runtime.gpu_of(static_cast<std::uint32_t>(properties.location.id));
            return CUDA_SUCCESS;
        case CU_MEM_LOCATION_TYPE_HOST:
            return shareable ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
        case CU_MEM_LOCATION_TYPE_HOST_NUMA:
            return CUDA_SUCCESS;
        case CU_MEM_LOCATION_TYPE_INVALID:
        case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
            break;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult find_physical(CUmemGenericAllocationHandle handle, PhysicalMemoryPointer& physical) {
    Runtime* runtime = Runtime::get();
    if (!runtime) return CUDA_ERROR_NOT_INITIALIZED;
    physical = runtime->physical_handles().find(handle);
    return physical ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

extern "C" {

CUresult cuMemGetAllocationGranularity(std::size_t* granularity, const CUmemAllocationProp* properties,
                                       CUmemAllocationGranularity_flags option) {
    Runtime* runtime = Runtime::get();
    if (!runtime) return CUDA_ERROR_NOT_INITIALIZED;
    if (!granularity || !properties || option > CU_MEM_ALLOC_GRANULARITY_RECOMMENDED) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    std::uint32_t gpu = 0;
    if (const CUresult result = find_memory(*runtime, *properties, gpu); result != CUDA_SUCCESS)
        return result;
    *granularity = kBlock;
    return CUDA_SUCCESS;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, std::size_t size,
                     const CUmemAllocationProp* properties, unsigned long long flags) {
    Runtime* runtime = Runtime::get();
    if (!runtime) return CUDA_ERROR_NOT_INITIALIZED;
    if (!handle || !properties || flags != 0 || size == 0 || size % kBlock != 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    std::uint32_t gpu = 0;
    if (const CUresult result = find_memory(*runtime, *properties, gpu); result != CUDA_SUCCESS)
        return result;
    auto memory = runtime->holdings().create(gpu, size);
    if (!memory) return CUDA_ERROR_OUT_OF_MEMORY;
    *handle = runtime->physical_handles().add(*properties, std::move(memory));
    return CUDA_SUCCESS;
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
    Runtime* runtime = Runtime::get();
    if (!runtime) return CUDA_ERROR_NOT_INITIALIZED;
    return runtime->physical_handles().release(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* address) {
    Runtime* runtime = Runtime::get();
    if (!runtime) return CUDA_ERROR_NOT_INITIALIZED;
    const auto mapping = runtime->virtual_memory().mapping_at(reinterpret_cast<std::uint64_t>(address));
    if (!handle || !mapping) return CUDA_ERROR_INVALID_VALUE;
    runtime->physical_handles().retain(mapping->physical);
    *handle = mapping->physical->handle;
    return CUDA_SUCCESS;
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* properties,
                                                CUmemGenericAllocationHandle handle) {
    PhysicalMemoryPointer physical;
    if (const CUresult result = find_physical(handle, physical); result != CUDA_SUCCESS) return result;
    if (!properties) return CUDA_ERROR_INVALID_VALUE;
    *properties = physical->properties;
    return CUDA_SUCCESS;
}

CUresult cuMemExportToShareableHandle(void* shareable, CUmemGenericAllocationHandle handle,
                                      CUmemAllocationHandleType type, unsigned long long flags) {
    PhysicalMemoryPointer physical;
    if (const CUresult result = find_physical(handle, physical); result != CUDA_SUCCESS) return result;
    if (!shareable || flags != 0 || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
        physical->properties.requestedHandleTypes != type) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    const int descriptor = make_segment_descriptor(*Runtime::get(), physical->memory->name());
    if (descriptor < 0) return CUDA_ERROR_OPERATING_SYSTEM;
    *static_cast<int*>(shareable) = descriptor;
    return CUDA_SUCCESS;
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle, void* shareable,
                                        CUmemAllocationHandleType type) {
    Runtime* runtime = Runtime::get();
    if (!runtime) return CUDA_ERROR_NOT_INITIALIZED;
    if (!handle || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_INVALID_VALUE;
    // The descriptor is passed in the pointer, as an int.
    const auto descriptor = static_cast<int>(reinterpret_cast<std::intptr_t>(shareable));
    const auto name = read_segment_descriptor(*runtime, descriptor);
    auto memory = name ? runtime->holdings().open(*name) : nullptr;
    if (!memory) return CUDA_ERROR_INVALID_VALUE;
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.requestedHandleTypes = type;
    properties.location = {CU_MEM_LOCATION_TYPE_HOST_NUMA, 0};
    if (memory->gpu() != kHostMemory) {
        const auto ordinal = runtime->ordinal_of(memory->gpu());
        if (!ordinal) return CUDA_ERROR_NOT_SUPPORTED;
        properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, static_cast<int>(*ordinal)};
    }
    *handle = runtime->physical_handles().add(properties, std::move(memory));
    return CUDA_SUCCESS;
}

}  // extern "C"
