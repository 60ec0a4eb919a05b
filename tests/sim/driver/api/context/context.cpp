#include "tests/sim/driver/context/context.hpp"

#include "tests/sim/driver/graph/capture.hpp"
#include "tests/sim/driver/runtime/runtime.hpp"

using namespace simgpu;

namespace {

/// The versions of cuCtxCreate differ in parameters that have no effect here.
CUresult create(CUcontext* handle, unsigned int flags, CUdevice device) {
    Runtime* runtime = Runtime::get();
    if (!runtime) return CUDA_ERROR_NOT_INITIALIZED;
    if (!handle) return CUDA_ERROR_INVALID_VALUE;
    if (!runtime->is_ordinal(device)) return CUDA_ERROR_INVALID_DEVICE;
    CUresult result = CUDA_SUCCESS;
    Context* context = runtime->create_context(static_cast<std::uint32_t>(device), flags, result);
    if (!context) return result;
    context_stack().push_back(context);
    *handle = reinterpret_cast<CUcontext>(context);
    return CUDA_SUCCESS;
}

/// The handle's context, or the current one for NULL.
CUresult find_context(CUcontext handle, Context*& context) {
    if (!handle) return current_stream_context(context);
    if (!Runtime::get()) return CUDA_ERROR_NOT_INITIALIZED;
    context = from_handle<Context>(handle);
    if (!context) return CUDA_ERROR_INVALID_CONTEXT;
    return context->is_open() ? context->error() : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

CUresult synchronize(CUcontext handle) {
    Context* context = nullptr;
    if (const CUresult result = find_context(handle, context); result != CUDA_SUCCESS) return result;
    if (const CUresult result = check_wait(*context); result != CUDA_SUCCESS) return result;
    context->synchronize();
    for (Context* other : context->runtime().living_contexts())
        if (other->parent() == context) other->synchronize();
    context->runtime().synchronized();
    return context->error();
}

}  // namespace

extern "C" {

CUresult cuCtxCreate(CUcontext* handle, unsigned int flags, CUdevice device) {
    return create(handle, flags, device);
}

CUresult cuCtxCreate_v2(CUcontext* handle, unsigned int flags, CUdevice device) {
    return create(handle, flags, device);
}

CUresult cuCtxCreate_v3(CUcontext* handle, CUexecAffinityParam*, int, unsigned int flags, CUdevice device) {
    return create(handle, flags, device);
}

CUresult cuCtxCreate_v4(CUcontext* handle, CUctxCreateParams*, unsigned int flags, CUdevice device) {
    return create(handle, flags, device);
}

CUresult cuCtxDestroy_v2(CUcontext handle) {
    Runtime* runtime = Runtime::get();
    if (!runtime) return CUDA_ERROR_NOT_INITIALIZED;
    Context* context = from_handle<Context>(handle);
    if (!context || context->primary() || context->parent()) return CUDA_ERROR_INVALID_CONTEXT;
    if (!context->is_open()) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    if (!context_stack().empty() && context_stack().back() == context) context_stack().pop_back();
    runtime->destroy_context(*context);
    return CUDA_SUCCESS;
}

CUresult cuCtxDestroy(CUcontext handle) { return cuCtxDestroy_v2(handle); }

CUresult cuCtxPushCurrent_v2(CUcontext handle) {
    Context* context = nullptr;
    if (!handle) return Runtime::get() ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_NOT_INITIALIZED;
    if (const CUresult result = find_context(handle, context); result != CUDA_SUCCESS) return result;
    context_stack().push_back(context);
    return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent(CUcontext handle) { return cuCtxPushCurrent_v2(handle); }

CUresult cuCtxPopCurrent_v2(CUcontext* handle) {
    if (!Runtime::get()) return CUDA_ERROR_NOT_INITIALIZED;
    auto& stack = context_stack();
    if (stack.empty()) return CUDA_ERROR_INVALID_CONTEXT;
    if (handle) *handle = reinterpret_cast<CUcontext>(stack.back());
    stack.pop_back();
    return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent(CUcontext* handle) { return cuCtxPopCurrent_v2(handle); }

CUresult cuCtxSetCurrent(CUcontext handle) {
    if (!Runtime::get()) return CUDA_ERROR_NOT_INITIALIZED;
    auto& stack = context_stack();
    Context* context = from_handle<Context>(handle);
    if (handle && !context) return CUDA_ERROR_INVALID_CONTEXT;
    if (!stack.empty()) stack.pop_back();
    if (context) stack.push_back(context);
    return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext* handle) {
    if (!Runtime::get()) return CUDA_ERROR_NOT_INITIALIZED;
    if (!handle) return CUDA_ERROR_INVALID_VALUE;
    *handle = context_stack().empty() ? nullptr : reinterpret_cast<CUcontext>(context_stack().back());
    return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice_v2(CUdevice* device, CUcontext handle) {
    Context* context = nullptr;
    if (const CUresult result = find_context(handle, context); result != CUDA_SUCCESS) return result;
    if (!device) return CUDA_ERROR_INVALID_VALUE;
    *device = static_cast<CUdevice>(context->ordinal());
    return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice* device) { return cuCtxGetDevice_v2(device, nullptr); }

CUresult cuCtxGetFlags(unsigned int* flags) {
    Context* context = nullptr;
    if (const CUresult result = current_context(context); result != CUDA_SUCCESS) return result;
    if (!flags) return CUDA_ERROR_INVALID_VALUE;
    *flags = context->flags;
    return CUDA_SUCCESS;
}

CUresult cuCtxSetFlags(unsigned int flags) {
    Context* context = nullptr;
    if (const CUresult result = current_context(context); result != CUDA_SUCCESS) return result;
    context->flags = flags;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetId(CUcontext handle, unsigned long long* id) {
    Context* context = nullptr;
    if (const CUresult result = find_context(handle, context); result != CUDA_SUCCESS) return result;
    if (!id) return CUDA_ERROR_INVALID_VALUE;
    *id = context->id();
    return CUDA_SUCCESS;
}

CUresult cuCtxGetApiVersion(CUcontext handle, unsigned int* version) {
    Context* context = nullptr;
    if (const CUresult result = find_context(handle, context); result != CUDA_SUCCESS) return result;
    if (!version) return CUDA_ERROR_INVALID_VALUE;
    *version = 3020;
    return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize() { return synchronize(nullptr); }

CUresult cuCtxSynchronize_v2(CUcontext handle) { return synchronize(handle); }

CUresult cuCtxGetLimit(std::size_t* value, CUlimit limit) {
    Context* context = nullptr;
    if (const CUresult result = current_context(context); result != CUDA_SUCCESS) return result;
    if (!value || limit >= CU_LIMIT_MAX) return CUDA_ERROR_INVALID_VALUE;
    *value = context->own_memory.limit(limit);
    return CUDA_SUCCESS;
}

CUresult cuCtxSetLimit(CUlimit limit, std::size_t value) {
    Context* context = nullptr;
    if (const CUresult result = current_context(context); result != CUDA_SUCCESS) return result;
    if (limit >= CU_LIMIT_MAX) return CUDA_ERROR_INVALID_VALUE;
    context->own_memory.set_limit(limit, value);
    return CUDA_SUCCESS;
}

CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
    Context* context = nullptr;
    if (const CUresult result = current_context(context); result != CUDA_SUCCESS) return result;
    if (least) *least = 0;
    if (greatest) *greatest = -5;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetCacheConfig(int* config) {
    Context* context = nullptr;
    if (const CUresult result = current_context(context); result != CUDA_SUCCESS) return result;
    if (!config) return CUDA_ERROR_INVALID_VALUE;
    *config = 0;
    return CUDA_SUCCESS;
}

CUresult cuCtxSetCacheConfig(int) {
    Context* context = nullptr;
    return current_context(context);
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned int flags) {
    Context* context = nullptr;
    if (const CUresult result = current_context(context); result != CUDA_SUCCESS) return result;
    if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
    return find_context(peer, context);
}

CUresult cuCtxDisablePeerAccess(CUcontext peer) {
    Context* context = nullptr;
    if (const CUresult result = current_context(context); result != CUDA_SUCCESS) return result;
    return find_context(peer, context);
}

}  // extern "C"
