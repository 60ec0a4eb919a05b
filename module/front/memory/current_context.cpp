#include "module/front/memory/current_context.hpp"

#include "module/front/driver/real_driver.hpp"
#include "module/front/memory/context_count.hpp"
#include "module/front/session/session.hpp"

namespace cgpu::front {
namespace {

bool is_default(CUstream stream) {
    return stream == nullptr || stream == stream_legacy() || stream == stream_per_thread();
}

// Contexts may also be made without a hook: the CUDA runtime retains the primary one through a private table.
Context* adopt(CUcontext handle) {
    CUdevice device = 0;
    if (real::cuCtxGetDevice(&device) != kSuccess) return nullptr;
    const int gpu = session().gpu_of(device);
    unsigned flags = 0;
    int active = 0;
    const bool primary = gpu >= 0 && contexts().primary_of(gpu) == nullptr &&
                         real::cuDevicePrimaryCtxGetState(device, &flags, &active) == kSuccess && active != 0;
    Context* entry = contexts().add(handle, gpu, primary);
    if (entry != nullptr && gpu >= 0) context_count(gpu).adopt();
    return entry;
}

/// A green one, too.
Context* current_of_any_kind() {
    CUcontext handle = nullptr;
    if (real::cuCtxGetCurrent(&handle) != kSuccess || handle == nullptr) return nullptr;
    Context* known = contexts().find(handle);
    return known != nullptr ? known : adopt(handle);
}

}  // namespace

Context* current_context() {
    Context* context = current_of_any_kind();
    return context != nullptr ? &context->owner() : nullptr;
}

Context* context_of(CUstream stream) {
    CUcontext handle = nullptr;
    if (contexts().any_green() && !is_default(stream) && real::cuStreamGetCtx(stream, &handle) == kSuccess) {
        if (Context* found = contexts().find(handle)) return found;
    }
    return current_of_any_kind();
}

}  // namespace cgpu::front
