#include "tests/sim/driver/memory/array.hpp"

#include <memory>

#include "tests/sim/driver/graph/capture.hpp"
#include "tests/sim/driver/runtime/runtime.hpp"

using namespace simgpu;

namespace {

CUresult create(CUarray* handle, const CUDA_ARRAY3D_DESCRIPTOR& descriptor) {
    Context* context = nullptr;
    if (const CUresult result = current_context(context); result != CUDA_SUCCESS) return result;
    if (const CUresult result = check_unsafe_call(); result != CUDA_SUCCESS) return result;
    if (!handle) return CUDA_ERROR_INVALID_VALUE;
    auto array = std::make_unique<Array>();
    array->descriptor = descriptor;
    array->context = context;
    CUresult result = lay_out(descriptor, array->layout);
    if (result != CUDA_SUCCESS) return result;
    if ((descriptor.Flags & CUDA_ARRAY3D_DEFERRED_MAPPING) == 0) {
        result = context->runtime().memory().allocate(
            *context, round_up(array->layout.bytes, kArrayAlignment), MemoryKind::array, array->address);
    }
    if (result == CUDA_SUCCESS) *handle = reinterpret_cast<CUarray>(array.release());
    return result;
}

}  // namespace

extern "C" {

CUresult cuArrayCreate_v2(CUarray* handle, const CUDA_ARRAY_DESCRIPTOR* flat) {
    if (!flat) return CUDA_ERROR_INVALID_VALUE;
    return create(handle, {flat->Width, flat->Height, 0, flat->Format, flat->NumChannels, 0});
}

CUresult cuArray3DCreate_v2(CUarray* handle, const CUDA_ARRAY3D_DESCRIPTOR* descriptor) {
    return descriptor ? create(handle, *descriptor) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR* flat, CUarray handle) {
    if (!Runtime::get()) return CUDA_ERROR_NOT_INITIALIZED;
    const Array* array = from_handle<Array>(handle);
    if (!array) return CUDA_ERROR_INVALID_HANDLE;
    if (!flat) return CUDA_ERROR_INVALID_VALUE;
    const auto& whole = array->descriptor;
    *flat = {whole.Width, whole.Height, whole.Format, whole.NumChannels};
    return CUDA_SUCCESS;
}

CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR* descriptor, CUarray handle) {
    if (!Runtime::get()) return CUDA_ERROR_NOT_INITIALIZED;
    const Array* array = from_handle<Array>(handle);
    if (!array) return CUDA_ERROR_INVALID_HANDLE;
    if (!descriptor) return CUDA_ERROR_INVALID_VALUE;
    *descriptor = array->descriptor;
    return CUDA_SUCCESS;
}

CUresult cuArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS* requirements, CUarray handle,
                                      CUdevice device) {
    Runtime* runtime = Runtime::get();
    if (!runtime) return CUDA_ERROR_NOT_INITIALIZED;
    const Array* array = from_handle<Array>(handle);
    if (!array) return CUDA_ERROR_INVALID_HANDLE;
    if (!runtime->is_ordinal(device)) return CUDA_ERROR_INVALID_DEVICE;
    const bool deferred = (array->descriptor.Flags & CUDA_ARRAY3D_DEFERRED_MAPPING) != 0;
    if (!requirements || !deferred) return CUDA_ERROR_INVALID_VALUE;
    *requirements = {round_up(array->layout.bytes, kArrayAlignment), kArrayAlignment, {}};
    return CUDA_SUCCESS;
}

CUresult cuArrayDestroy(CUarray handle) {
    Runtime* runtime = Runtime::get();
    if (!runtime) return CUDA_ERROR_NOT_INITIALIZED;
    Array* found = from_handle<Array>(handle);
    if (!found || found->is_level) return CUDA_ERROR_INVALID_HANDLE;
    if (const CUresult result = check_unsafe_call(); result != CUDA_SUCCESS) return result;
    const std::unique_ptr<Array> array(found);
    if (!array->context->is_open()) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    array->context->synchronize();
    return array->address == 0 ? CUDA_SUCCESS : runtime->memory().free_array(array->address);
}

}  // extern "C"
