#include <memory>

#include "tests/sim/driver/graph/capture.hpp"
#include "tests/sim/driver/memory/array.hpp"
#include "tests/sim/driver/runtime/runtime.hpp"

using namespace simgpu;

extern "C" {

CUresult cuMipmappedArrayCreate(CUmipmappedArray* handle, const CUDA_ARRAY3D_DESCRIPTOR* descriptor,
                                unsigned int level_count) {
    Context* context = nullptr;
    if (const CUresult result = current_context(context); result != CUDA_SUCCESS) return result;
    if (const CUresult result = check_unsafe_call(); result != CUDA_SUCCESS) return result;
    if (!handle || !descriptor) return CUDA_ERROR_INVALID_VALUE;
    CUresult result = CUDA_SUCCESS;
    auto array = make_mipmapped_array(*descriptor, level_count, result);
    if (!array) return result;
    std::uint64_t address = 0;
    if ((descriptor->Flags & CUDA_ARRAY3D_DEFERRED_MAPPING) == 0) {
        result = context->runtime().memory().allocate(*context, array->bytes, MemoryKind::array, address);
        if (result != CUDA_SUCCESS) return result;
    }
    set_address(*array, *context, address);
    *handle = reinterpret_cast<CUmipmappedArray>(array.release());
    return CUDA_SUCCESS;
}

CUresult cuMipmappedArrayGetLevel(CUarray* level, CUmipmappedArray handle, unsigned int index) {
    if (!Runtime::get()) return CUDA_ERROR_NOT_INITIALIZED;
    const MipmappedArray* array = from_handle<MipmappedArray>(handle);
    if (!array) return CUDA_ERROR_INVALID_HANDLE;
    if (!level || index >= array->levels.size()) return CUDA_ERROR_INVALID_VALUE;
    *level = reinterpret_cast<CUarray>(array->levels[index].get());
    return CUDA_SUCCESS;
}

CUresult cuMipmappedArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS* requirements,
                                               CUmipmappedArray handle, CUdevice device) {
    Runtime* runtime = Runtime::get();
    if (!runtime) return CUDA_ERROR_NOT_INITIALIZED;
    const MipmappedArray* array = from_handle<MipmappedArray>(handle);
    if (!array) return CUDA_ERROR_INVALID_HANDLE;
    if (!runtime->is_ordinal(device)) return CUDA_ERROR_INVALID_DEVICE;
    const bool deferred = (array->descriptor.Flags & CUDA_ARRAY3D_DEFERRED_MAPPING) != 0;
    if (!requirements || !deferred) return CUDA_ERROR_INVALID_VALUE;
    *requirements = {array->bytes, kArrayAlignment, {}};
    return CUDA_SUCCESS;
}

CUresult cuMipmappedArrayDestroy(CUmipmappedArray handle) {
    Runtime* runtime = Runtime::get();
    if (!runtime) return CUDA_ERROR_NOT_INITIALIZED;
    MipmappedArray* found = from_handle<MipmappedArray>(handle);
    if (!found) return CUDA_ERROR_INVALID_HANDLE;
    if (const CUresult result = check_unsafe_call(); result != CUDA_SUCCESS) return result;
    const std::unique_ptr<MipmappedArray> array(found);
    if (!array->context->is_open()) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    array->context->synchronize();
    return array->address == 0 ? CUDA_SUCCESS : runtime->memory().free_array(array->address);
}

}  // extern "C"
