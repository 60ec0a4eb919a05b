// Contexts: the first of a process on a GPU costs memory, a destroyed one frees all that was made in it.
// Green contexts are parts of the primary context, which the first one of them makes.
#include "module/front/base/errands.hpp"
#include "module/front/compute/batch.hpp"
#include "module/front/compute/first_launch.hpp"
#include "module/front/contexts/context_table.hpp"
#include "module/front/driver/hook.hpp"
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
CGPU_REAL(cuGLCtxCreate, CUcontext*, unsigned, CUdevice)
CGPU_REAL(cuGLCtxCreate_v2, CUcontext*, unsigned, CUdevice)
CGPU_REAL(cuVDPAUCtxCreate, CUcontext*, unsigned, CUdevice, unsigned, void*)
CGPU_REAL(cuVDPAUCtxCreate_v2, CUcontext*, unsigned, CUdevice, unsigned, void*)
CGPU_REAL(cuGreenCtxCreate, CUgreenCtx*, CUdevResourceDesc, CUdevice, unsigned)
CGPU_REAL(cuGreenCtxDestroy, CUgreenCtx)
CGPU_REAL(cuCtxFromGreenCtx, CUcontext*, CUgreenCtx)
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

/// Whether a context may be made on a device, and on which GPU.
struct Site {
    bool passes = false;  ///< the call is passed on
    CUresult refusal = kSuccess;
    int gpu = kForeignGpu;
};

/// `out`: where the program wants to have the handle.
Site site_of(CUdevice device, const void* out) {
    const Route route = session().route();
    if (route == Route::broken) return {.refusal = kSystemNotReady};
    int devices = 0;
    real::cuDeviceGetCount(&devices);
    // If an argument is wrong, the driver says so.
    if (route == Route::pass || out == nullptr || device < 0 || device >= devices) return {.passes = true};
    const int gpu = session().gpu_of(device);
    if (gpu != kForeignGpu) return {.gpu = gpu};
    session().link().notice(cgpu::wire::Event::foreign_device_refused, 0, "context");
    return {.refusal = kInvalidDevice};
}

/// Makes a context by `call`, after the daemon has set its memory aside if the GPU isolates memory.
template <class Call>
CUresult create(CUcontext* context, CUdevice device, bool primary, Call call) {
    const auto [passes, refusal, gpu] = site_of(device, context);
    if (refusal != kSuccess) return refusal;
    if (passes || (primary && contexts().primary_of(gpu) != nullptr)) return call();
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

/// Takes the primary context in, which the driver has made or already had. Null: it can't be asked for.
/// `added`: this call has taken it in.
Context* take_in_primary(CUdevice device, int gpu, bool& added) {
    if (Context* known = contexts().primary_of(gpu)) return known;
    CUcontext handle = nullptr;
    if (real::cuDevicePrimaryCtxRetain(&handle, device) != kSuccess) return nullptr;
    added = contexts().find(handle) == nullptr;
    Context* context = contexts().add(handle, gpu, true);
    real::cuDevicePrimaryCtxRelease_v2(device);
    return context;
}

/// A green context retains the primary one. How much memory it takes itself isn't documented; the driver's
/// figure for the process shows it.
template <class Call>
CUresult create_green(CUgreenCtx* green, CUdevice device, Call call) {
    const auto [passes, refusal, gpu] = site_of(device, green);
    if (refusal != kSuccess) return refusal;
    if (passes) return call();
    const Uncancelled uncancelled;
    const bool makes_primary = contexts().primary_of(gpu) == nullptr;
    ContextCount::Making making;
    if (makes_primary) {
        const CUresult refused = context_count(gpu).before_create(gpu, true, making);
        if (refused != kSuccess) return refused;
    }
    const CUresult result = call();
    bool added = false;
    Context* primary = result == kSuccess ? take_in_primary(device, gpu, added) : nullptr;
    if (makes_primary) context_count(gpu).after_create(making, added);
    CUcontext handle = nullptr;
    if (primary != nullptr && real::cuCtxFromGreenCtx(&handle, *green) == kSuccess)
        contexts().add_green(handle, *green, *primary);
    if (result == kSuccess) session().link().tell(cgpu::wire::Topic::moved, static_cast<std::uint32_t>(gpu));
    return result;
}

/// The primary context was reset: its green contexts are gone, too.
void greens_gone(Context& primary) {
    contexts().for_each(primary.gpu, [&primary](Context& each) {
        if (!each.is_green() || &each.owner() != &primary) return;
        forget_batches(each);
        contexts().remove(each);
    });
}

void gone(Context& context) {
    const auto key = context.key();
    if (contexts().any_green()) greens_gone(context);
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

CUresult destroy_green(CUgreenCtx green) {
    Context* context = session().route() == Route::managed ? contexts().find_green(green) : nullptr;
    if (context == nullptr) return real::cuGreenCtxDestroy(green);
    Context& primary = context->owner();
    contexts().retire(*context);
    contexts().retire(primary);
    const Freeing freeing;
    forget_batches(*context, Events::destroy);
    const CUresult result = real::cuGreenCtxDestroy(green);
    if (result == kSuccess)
        contexts().remove(*context);
    else
        contexts().unretire(*context);
    if (result == kSuccess && primary_ended(session().device_of(static_cast<std::uint32_t>(primary.gpu)))) {
        gone(primary);
    } else {
        contexts().unretire(primary);
        session().link().tell(cgpu::wire::Topic::moved, static_cast<std::uint32_t>(primary.gpu));
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

CGPU_HOOK cuGLCtxCreate(CUcontext* context, unsigned flags, CUdevice device) {
    return create(context, device, false, [&] { return real::cuGLCtxCreate(context, flags, device); });
}

CGPU_HOOK cuGLCtxCreate_v2(CUcontext* context, unsigned flags, CUdevice device) {
    return create(context, device, false, [&] { return real::cuGLCtxCreate_v2(context, flags, device); });
}

CGPU_HOOK cuVDPAUCtxCreate(CUcontext* context, unsigned flags, CUdevice device, unsigned display,
                           void* lookup) {
    return create(context, device, false,
                  [&] { return real::cuVDPAUCtxCreate(context, flags, device, display, lookup); });
}

CGPU_HOOK cuVDPAUCtxCreate_v2(CUcontext* context, unsigned flags, CUdevice device, unsigned display,
                              void* lookup) {
    return create(context, device, false,
                  [&] { return real::cuVDPAUCtxCreate_v2(context, flags, device, display, lookup); });
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

CGPU_HOOK cuGreenCtxCreate(CUgreenCtx* green, CUdevResourceDesc resources, CUdevice device, unsigned flags) {
    return create_green(green, device,
                        [&] { return real::cuGreenCtxCreate(green, resources, device, flags); });
}

CGPU_HOOK cuGreenCtxDestroy(CUgreenCtx green) { return destroy_green(green); }
