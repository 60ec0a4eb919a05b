// Contexts: the first of a process on a GPU costs memory, a destroyed one frees all that was made in it.
#include "module/front/base/errands.hpp"
#include "module/front/compute/batch.hpp"
#include "module/front/compute/first_launch.hpp"
#include "module/front/contexts/context_table.hpp"
#include "module/front/hooks/hook.hpp"
#include "module/front/lease/freeing.hpp"
#include "module/front/lease/physical.hpp"
#include "module/front/lease/pool_frees.hpp"
#include "module/front/memory/context_count.hpp"
#include "module/front/memory/set_aside.hpp"
#include "module/front/session/session.hpp"

using namespace cgpu::front;

namespace cgpu::front::real {
CGPU_REAL(cuCtxCreate, CUcontext*, unsigned, CUdevice)
CGPU_REAL(cuCtxCreate_v2, CUcontext*, unsigned, CUdevice)
CGPU_REAL(cuCtxCreate_v3, CUcontext*, void*, int, unsigned, CUdevice)
CGPU_REAL(cuCtxCreate_v4, CUcontext*, void*, unsigned, CUdevice)
CGPU_REAL(cuCtxDestroy, CUcontext)
CGPU_REAL(cuCtxDestroy_v2, CUcontext)
CGPU_REAL(cuCtxAttach, CUcontext*, unsigned)
CGPU_REAL(cuCtxDetach, CUcontext)
CGPU_REAL(cuDevicePrimaryCtxRetain, CUcontext*, CUdevice)
CGPU_REAL(cuDevicePrimaryCtxRelease, CUdevice)
CGPU_REAL(cuDevicePrimaryCtxRelease_v2, CUdevice)
CGPU_REAL(cuDevicePrimaryCtxReset, CUdevice)
CGPU_REAL(cuDevicePrimaryCtxReset_v2, CUdevice)
}  // namespace cgpu::front::real

namespace {

/// Makes a context by `call`, after the daemon has set its memory aside if the GPU isolates memory.
template <class Call>
CUresult create(CUcontext* context, CUdevice device, bool primary, Call call) {
    const Route route = session().route();
    if (route == Route::pass || context == nullptr) return call();
    if (route == Route::broken) return kSystemNotReady;
    int devices = 0;
    real::cuDeviceGetCount(&devices);
    if (device < 0 || device >= devices) return call();  // the driver says what is wrong
    const int gpu = session().gpu_of(device);
    if (gpu == kForeignGpu) {
        session().link().notice(cgpu::wire::Event::foreign_device_refused, 0, "context");
        return kInvalidDevice;
    }
    if (primary && contexts().primary_of(gpu) != nullptr) return call();  // one more use of what exists
    const Uncancelled uncancelled;
    ContextCount::Making making;
    if (const CUresult refused = context_count(gpu).before_create(gpu, primary, making); refused != kSuccess)
        return refused;
    const CUresult result = call();
    const bool known_already = result == kSuccess && contexts().find(*context) != nullptr;
    if (result == kSuccess && !known_already) contexts().add(*context, gpu, primary);
    // Two threads that retained the same primary context made one context.
    context_count(gpu).after_create(making, result == kSuccess && !known_already);
    return result;
}

void gone(Context& context) {
    const auto key = context.key();
    forget_batches(context);
    end_aside(held_for_limits(context), false);
    pool_frees().forget(context);
    session().engine().release_context(key);
    physical().context_ended();
    contexts().remove(context);
    if (context.gpu >= 0) context_count(context.gpu).destroyed();
    errands().note_free();
}

CUresult destroy(const RealFunction<CUresult(CUcontext)>& real_call, CUcontext handle) {
    Context* context = session().route() == Route::managed ? contexts().find(handle) : nullptr;
    if (handle == nullptr || context == nullptr) return real_call(handle);
    contexts().retire(*context);
    const Freeing freeing;
    const CUresult result = real_call(handle);
    if (result == kSuccess) {
        gone(*context);
    } else {
        contexts().unretire(*context);
    }
    return result;
}

/// Call after a release or reset of the primary context: whether the context has ended.
bool primary_ended(CUdevice device) {
    unsigned flags = 0;
    int active = 0;
    return real::cuDevicePrimaryCtxGetState(device, &flags, &active) == kSuccess && active == 0;
}

CUresult let_primary_go(const RealFunction<CUresult(CUdevice)>& real_call, CUdevice device) {
    const int gpu = session().route() == Route::managed ? session().gpu_of(device) : kForeignGpu;
    Context* context = gpu >= 0 ? contexts().primary_of(gpu) : nullptr;
    if (context == nullptr) return real_call(device);
    contexts().retire(*context);
    const Freeing freeing;
    const CUresult result = real_call(device);
    if (result == kSuccess && primary_ended(device)) {
        gone(*context);
    } else {
        contexts().unretire(*context);
    }
    return result;
}

}  // namespace

CGPU_HOOK cuCtxCreate(CUcontext* context, unsigned flags, CUdevice device) {
    return create(context, device, false, [&] { return real::cuCtxCreate(context, flags, device); });
}

CGPU_HOOK cuCtxCreate_v2(CUcontext* context, unsigned flags, CUdevice device) {
    return create(context, device, false, [&] { return real::cuCtxCreate_v2(context, flags, device); });
}

CGPU_HOOK cuCtxCreate_v3(CUcontext* context, void* affinity, int count, unsigned flags, CUdevice device) {
    return create(context, device, false,
                  [&] { return real::cuCtxCreate_v3(context, affinity, count, flags, device); });
}

CGPU_HOOK cuCtxCreate_v4(CUcontext* context, void* parameters, unsigned flags, CUdevice device) {
    return create(context, device, false,
                  [&] { return real::cuCtxCreate_v4(context, parameters, flags, device); });
}

CGPU_HOOK cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
    return create(context, device, true, [&] { return real::cuDevicePrimaryCtxRetain(context, device); });
}

CGPU_HOOK cuCtxDestroy(CUcontext context) { return destroy(real::cuCtxDestroy, context); }
CGPU_HOOK cuCtxDestroy_v2(CUcontext context) { return destroy(real::cuCtxDestroy_v2, context); }

CGPU_HOOK cuCtxAttach(CUcontext* context, unsigned flags) {
    const CUresult result = real::cuCtxAttach(context, flags);
    if (result != kSuccess || session().route() != Route::managed) return result;
    if (Context* entry = contexts().find(*context)) ++entry->uses;
    return result;
}

CGPU_HOOK cuCtxDetach(CUcontext handle) {
    Context* context = session().route() == Route::managed ? contexts().find(handle) : nullptr;
    if (context == nullptr || context->uses > 1) {
        const CUresult result = real::cuCtxDetach(handle);
        if (result == kSuccess && context != nullptr) --context->uses;
        return result;
    }
    return destroy(real::cuCtxDetach, handle);
}

CGPU_HOOK cuDevicePrimaryCtxRelease(CUdevice device) {
    return let_primary_go(real::cuDevicePrimaryCtxRelease, device);
}

CGPU_HOOK cuDevicePrimaryCtxRelease_v2(CUdevice device) {
    return let_primary_go(real::cuDevicePrimaryCtxRelease_v2, device);
}

CGPU_HOOK cuDevicePrimaryCtxReset(CUdevice device) {
    return let_primary_go(real::cuDevicePrimaryCtxReset, device);
}

CGPU_HOOK cuDevicePrimaryCtxReset_v2(CUdevice device) {
    return let_primary_go(real::cuDevicePrimaryCtxReset_v2, device);
}
