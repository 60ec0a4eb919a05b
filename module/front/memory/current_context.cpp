#include "module/front/memory/current_context.hpp"

#include "module/front/driver/real_driver.hpp"
#include "module/front/memory/context_count.hpp"
#include "module/front/session/session.hpp"

namespace cgpu::front {
namespace {

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

}  // namespace

Context* current_context() {
    CUcontext handle = nullptr;
    if (real::cuCtxGetCurrent(&handle) != kSuccess || handle == nullptr) return nullptr;
    Context* known = contexts().find(handle);
    return known != nullptr ? known : adopt(handle);
}

}  // namespace cgpu::front
