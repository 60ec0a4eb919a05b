#include "tests/sim/driver/array.hpp"

#include <algorithm>
#include <memory>

#include "tests/sim/driver/runtime.hpp"

using namespace simgpu;

namespace {

/// Bytes of one channel; 0: not a format that arrays are made of here.
std::size_t channel_bytes(CUarray_format format) {
    switch (static_cast<int>(format)) {
        case CU_AD_FORMAT_UNSIGNED_INT8:
        case CU_AD_FORMAT_SIGNED_INT8:
            return 1;
        case CU_AD_FORMAT_UNSIGNED_INT16:
        case CU_AD_FORMAT_SIGNED_INT16:
        case CU_AD_FORMAT_HALF:
            return 2;
        case CU_AD_FORMAT_UNSIGNED_INT32:
        case CU_AD_FORMAT_SIGNED_INT32:
        case CU_AD_FORMAT_FLOAT:
            return 4;
    }
    return 0;
}

CUresult create(CUarray* handle, const CUDA_ARRAY3D_DESCRIPTOR& descriptor) {
    Context* context = nullptr;
    if (const CUresult result = current_context(context); result != CUDA_SUCCESS) return result;
    const std::size_t element = channel_bytes(descriptor.Format) * descriptor.NumChannels;
    const bool channels_fit =
        descriptor.NumChannels == 1 || descriptor.NumChannels == 2 || descriptor.NumChannels == 4;
    if (!handle || element == 0 || !channels_fit || descriptor.Width == 0) return CUDA_ERROR_INVALID_VALUE;
    auto array = std::make_unique<Array>();
    array->descriptor = descriptor;
    array->context = context;
    array->pitch = round_up(descriptor.Width * element, 128);
    const std::size_t rows =
        std::max<std::size_t>(descriptor.Height, 1) * std::max<std::size_t>(descriptor.Depth, 1);
    const CUresult result = context->runtime().memory().allocate(
        *context, round_up(array->pitch * rows, 65536), MemoryKind::plain, array->address);
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

CUresult cuArrayDestroy(CUarray handle) {
    Runtime* runtime = Runtime::get();
    if (!runtime) return CUDA_ERROR_NOT_INITIALIZED;
    const std::unique_ptr<Array> array(from_handle<Array>(handle));
    if (!array) return CUDA_ERROR_INVALID_HANDLE;
    if (!array->context->is_open()) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    array->context->synchronize();
    return runtime->memory().free(array->address);
}

}  // extern "C"
