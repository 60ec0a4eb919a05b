// Pools whose memory other processes open.
#include <cstring>

#include "tests/sim/driver/mapping/shareable_descriptor.hpp"
#include "tests/sim/driver/runtime/pool_handle.hpp"

using namespace simgpu;

namespace {

/// The contents of a CUmemPoolPtrExportData.
struct ExportedPointer {
    std::uint64_t pool_serial;
    std::uint64_t segment_serial;
    std::uint64_t offset;
    std::uint64_t size;
    std::uint32_t segment_index;
};
static_assert(sizeof(ExportedPointer) <= sizeof(CUmemPoolPtrExportData));

}  // namespace

extern "C" {

CUresult cuMemPoolExportToShareableHandle(void* shareable, CUmemoryPool handle,
                                          CUmemAllocationHandleType type, unsigned long long flags) {
    Pool* pool = nullptr;
    if (const CUresult result = find_pool(handle, pool); result != CUDA_SUCCESS) return result;
    const Pool::Properties& properties = pool->properties();
    if (!shareable || flags != 0 || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
        properties.shared_serial == 0 || properties.imported) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    Runtime& runtime = *Runtime::get();
    const int descriptor =
        make_pool_descriptor(runtime, {runtime.gpu_of(pool->ordinal()), properties.shared_serial});
    if (descriptor < 0) return CUDA_ERROR_OPERATING_SYSTEM;
    *static_cast<int*>(shareable) = descriptor;
    return CUDA_SUCCESS;
}

CUresult cuMemPoolImportFromShareableHandle(CUmemoryPool* handle, void* shareable,
                                            CUmemAllocationHandleType type, unsigned long long flags) {
    Runtime* runtime = Runtime::get();
    if (!runtime) return CUDA_ERROR_NOT_INITIALIZED;
    if (!handle || flags != 0 || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    // The descriptor is passed in the pointer, as an int.
    const auto descriptor = static_cast<int>(reinterpret_cast<std::intptr_t>(shareable));
    const auto shared = read_pool_descriptor(*runtime, descriptor);
    if (!shared) return CUDA_ERROR_INVALID_VALUE;
    const auto ordinal = runtime->ordinal_of(shared->gpu);
    if (!ordinal) return CUDA_ERROR_NOT_SUPPORTED;
    Pool::Properties properties;
    properties.shared_serial = shared->serial;
    properties.imported = true;
    *handle = handle_of(*runtime->memory().create_pool(*ordinal, properties));
    return CUDA_SUCCESS;
}

CUresult cuMemPoolExportPointer(CUmemPoolPtrExportData* data, CUdeviceptr pointer) {
    Runtime* runtime = Runtime::get();
    if (!runtime) return CUDA_ERROR_NOT_INITIALIZED;
    const auto allocation = runtime->memory().find(pointer);
    if (!data || !allocation || allocation->kind != MemoryKind::pooled) return CUDA_ERROR_INVALID_VALUE;
    const auto place = allocation->pool->locate(allocation->address);
    if (!place) return CUDA_ERROR_INVALID_VALUE;
    const ExportedPointer exported{allocation->pool->properties().shared_serial, place->name.serial,
                                   place->offset, allocation->size, place->name.index};
    std::memset(data, 0, sizeof *data);
    std::memcpy(data, &exported, sizeof exported);
    return CUDA_SUCCESS;
}

CUresult cuMemPoolImportPointer(CUdeviceptr* pointer, CUmemoryPool handle, CUmemPoolPtrExportData* data) {
    Context* context = nullptr;
    if (const CUresult result = current_context(context); result != CUDA_SUCCESS) return result;
    Pool* pool = nullptr;
    if (const CUresult result = find_pool(handle, pool); result != CUDA_SUCCESS) return result;
    if (!pointer || !data || !pool->properties().imported) return CUDA_ERROR_INVALID_VALUE;
    ExportedPointer exported;
    std::memcpy(&exported, data, sizeof exported);
    if (exported.pool_serial != pool->properties().shared_serial) return CUDA_ERROR_INVALID_VALUE;
    Runtime& runtime = context->runtime();
    auto shared = runtime.holdings().open({exported.segment_index, exported.segment_serial});
    if (!shared || exported.offset + exported.size > shared->bytes()) return CUDA_ERROR_INVALID_VALUE;
    std::uint64_t address = 0;
    const CUresult result = runtime.memory().open_shared(
        {0, exported.size, MemoryKind::imported_pooled, context, pool->ordinal(), pool}, std::move(shared),
        exported.offset, address);
    if (result == CUDA_SUCCESS) *pointer = address;
    return result;
}

}  // extern "C"
