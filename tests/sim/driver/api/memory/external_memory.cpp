// Memory that another interface made: here it is a descriptor of cuMemExportToShareableHandle.
#include <unistd.h>

#include <memory>

#include "tests/sim/driver/mapping/shareable_descriptor.hpp"
#include "tests/sim/driver/memory/array.hpp"
#include "tests/sim/driver/runtime/runtime.hpp"

using namespace simgpu;

namespace {

struct ExternalMemory : Tagged<0x6c616e7265747865ULL> {
    std::uint64_t size = 0;
    std::uint32_t ordinal = 0;
    SharedMemoryPointer memory;
};

/// Maps part of it in the current context.
CUresult map_part(const ExternalMemory& external, std::uint64_t offset, std::uint64_t size, Context& context,
                  std::uint64_t& address) {
    if (size == 0 || offset > external.size || size > external.size - offset) return CUDA_ERROR_INVALID_VALUE;
    return context.runtime().memory().open_shared({0, size, MemoryKind::external, &context, external.ordinal},
                                                  external.memory, offset, address);
}

CUresult find_external(CUexternalMemory handle, Context*& context, ExternalMemory*& external) {
    if (const CUresult result = current_context(context); result != CUDA_SUCCESS) return result;
    external = from_handle<ExternalMemory>(handle);
    return external ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

}  // namespace

extern "C" {

CUresult cuImportExternalMemory(CUexternalMemory* handle,
                                const CUDA_EXTERNAL_MEMORY_HANDLE_DESC* description) {
    Context* context = nullptr;
    if (const CUresult result = current_context(context); result != CUDA_SUCCESS) return result;
    if (!handle || !description) return CUDA_ERROR_INVALID_VALUE;
    if (description->type != CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD) return CUDA_ERROR_NOT_SUPPORTED;
    Runtime& runtime = context->runtime();
    const auto name = read_segment_descriptor(runtime, description->handle.fd);
    auto memory = name ? runtime.holdings().open(*name) : nullptr;
    if (!memory) return CUDA_ERROR_INVALID_HANDLE;
    const auto ordinal = runtime.ordinal_of(memory->gpu());
    if (!ordinal || description->size == 0 || description->size > memory->bytes()) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    auto external = std::make_unique<ExternalMemory>();
    external->size = description->size;
    external->ordinal = *ordinal;
    external->memory = std::move(memory);
    close(description->handle.fd);  // it belongs to the driver from now on
    *handle = reinterpret_cast<CUexternalMemory>(external.release());
    return CUDA_SUCCESS;
}

CUresult cuExternalMemoryGetMappedBuffer(CUdeviceptr* pointer, CUexternalMemory handle,
                                         const CUDA_EXTERNAL_MEMORY_BUFFER_DESC* description) {
    Context* context = nullptr;
    ExternalMemory* external = nullptr;
    if (const CUresult result = find_external(handle, context, external); result != CUDA_SUCCESS)
        return result;
    if (!pointer || !description || description->flags != 0) return CUDA_ERROR_INVALID_VALUE;
    std::uint64_t address = 0;
    const CUresult result = map_part(*external, description->offset, description->size, *context, address);
    if (result == CUDA_SUCCESS) *pointer = address;
    return result;
}

CUresult cuExternalMemoryGetMappedMipmappedArray(
    CUmipmappedArray* array_handle, CUexternalMemory handle,
    const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC* description) {
    Context* context = nullptr;
    ExternalMemory* external = nullptr;
    if (const CUresult result = find_external(handle, context, external); result != CUDA_SUCCESS)
        return result;
    if (!array_handle || !description) return CUDA_ERROR_INVALID_VALUE;
    CUresult result = CUDA_SUCCESS;
    auto array = make_mipmapped_array(description->arrayDesc, description->numLevels, result);
    if (!array) return result;
    std::uint64_t address = 0;
    result = map_part(*external, description->offset, array->bytes, *context, address);
    if (result != CUDA_SUCCESS) return result;
    set_address(*array, *context, address);
    *array_handle = reinterpret_cast<CUmipmappedArray>(array.release());
    return CUDA_SUCCESS;
}

CUresult cuDestroyExternalMemory(CUexternalMemory handle) {
    if (!Runtime::get()) return CUDA_ERROR_NOT_INITIALIZED;
    const std::unique_ptr<ExternalMemory> external(from_handle<ExternalMemory>(handle));
    return external ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

}  // extern "C"
