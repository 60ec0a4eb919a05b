// A context's limits: the memory of the heap, the printf buffer and the stacks is taken by a later launch.
#include "module/front/compute/first_launch.hpp"
#include "module/front/contexts/context_table.hpp"
#include "module/front/contexts/launch_changes.hpp"
#include "module/front/contexts/set_aside_memory.hpp"
#include "module/front/driver/hook.hpp"
#include "module/front/memory/place.hpp"
#include "module/front/memory/set_aside.hpp"
#include "module/front/session/session.hpp"
#include "module/front/sizes/resident_threads.hpp"

using namespace cgpu::front;

namespace cgpu::front::real {
CGPU_REAL(cuCtxGetLimit, std::size_t*, int)
CGPU_REAL(cuCtxSetLimit, int, std::size_t)
}  // namespace cgpu::front::real

namespace {

/// The maximum memory for each unit of the limit; 0: the limit is not about memory of the GPU.
std::uint64_t bytes_of_each(int limit, int gpu) {
    switch (limit) {
        case kLimitStackSize:
            return resident_threads(gpu);
        case kLimitPrintfFifoSize:
        case kLimitMallocHeapSize:
            return 1;
        default:  // the driver's enum, not ours
            return 0;
    }
}

/// The limit is raised: more is set aside, and held together with the former amount.
template <class Call>
CUresult enlarge(Context& context, std::uint64_t bytes, Call call) {
    SetAsideMemory more;
    const CUresult refused = set_aside(cgpu::wire::Topic::load, context.gpu, bytes, more);
    const CUresult result = refused == kSuccess ? call() : refused;
    if (result != kSuccess) {
        end_aside(more, false);
        return result;
    }
    const SetAsideMemory held = held_for_limits(context);
    end_aside(held, true);  // two become one
    more.bytes += held.bytes;
    hold_for_limits(context, more);
    return result;
}

/// If the limit is lowered, the reserved memory that no launch has used yet is released; the driver's figure
/// corrects the rest.
template <class Call>
CUresult reduce(Context& context, std::uint64_t bytes, Call call) {
    const CUresult result = call();
    if (result != kSuccess) return result;
    const SetAsideMemory held = held_for_limits(context);
    if (held.bytes > bytes)
        hold_for_limits(context, held);
    else
        end_aside(held, false);
    session().link().tell(cgpu::wire::Topic::moved, static_cast<std::uint32_t>(context.gpu), bytes);
    return result;
}

}  // namespace

CGPU_HOOK cuCtxSetLimit(int limit, std::size_t value) {
    const auto call = [&] { return real::cuCtxSetLimit(limit, value); };
    const Place place = place_of_current("limit");
    if (place.route == Route::broken) return place.refusal;
    const std::uint64_t each = place.route == Route::pass ? 0 : bytes_of_each(limit, place.context->gpu);
    std::size_t before = 0;
    if (each == 0 || real::cuCtxGetLimit(&before, limit) != kSuccess || value == before) return call();
    const Uncancelled uncancelled;
    // Launches granted in advance end, so that the next launch sees what is held for it.
    launch_changes.note();
    return value > before ? enlarge(*place.context, saturated_product(value - before, each), call)
                          : reduce(*place.context, saturated_product(before - value, each), call);
}
