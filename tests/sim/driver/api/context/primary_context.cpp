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

CUresult cuDevicePrimaryCtxRetain(CUcontext* handle, CUdevice device) {
    Runtime* runtime = nullptr;
    if (const CUresult result = check(device, runtime); result != CUDA_SUCCESS) return result;
    if (!handle) return CUDA_ERROR_INVALID_VALUE;
    Context* context = nullptr;
    const CUresult result = runtime->retain_primary(static_cast<std::uint32_t>(device), context);
    if (result == CUDA_SUCCESS) *handle = reinterpret_cast<CUcontext>(context);
    return result;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
    Runtime* runtime = nullptr;
    if (const CUresult result = check(device, runtime); result != CUDA_SUCCESS) return result;
    return runtime->release_primary(static_cast<std::uint32_t>(device));
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device) { return cuDevicePrimaryCtxRelease_v2(device); }

CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
    Runtime* runtime = nullptr;
    if (const CUresult result = check(device, runtime); result != CUDA_SUCCESS) return result;
    runtime->reset_primary(static_cast<std::uint32_t>(device));
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxReset(CUdevice device) { return cuDevicePrimaryCtxReset_v2(device); }

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned int flags) {
    Runtime* runtime = nullptr;
    if (const CUresult result = check(device, runtime); result != CUDA_SUCCESS) return result;
    auto& primary = runtime->primary(static_cast<std::uint32_t>(device));
    primary.flags = flags;
    if (primary.context) primary.context->flags = flags;
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned int flags) {
    return cuDevicePrimaryCtxSetFlags_v2(device, flags);
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned int* flags, int* active) {
    Runtime* runtime = nullptr;
    if (const CUresult result = check(device, runtime); result != CUDA_SUCCESS) return result;
    if (!flags || !active) return CUDA_ERROR_INVALID_VALUE;
    const auto& primary = runtime->primary(static_cast<std::uint32_t>(device));
    *flags = primary.flags;
    *active = primary.context && primary.context->is_open();
    return CUDA_SUCCESS;
}

}  // extern "C"
