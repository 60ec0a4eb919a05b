#include "module/front/compute/first_launch.hpp"

#include "module/front/base/errands.hpp"
#include "module/front/contexts/set_aside_memory.hpp"
#include "module/front/memory/local_memory.hpp"
#include "module/front/memory/set_aside.hpp"
#include "module/front/sizes/code_table.hpp"
#include "module/front/sizes/resident_threads.hpp"

namespace cgpu::front {

namespace {

/// The driver has loaded the code to say how much local memory it needs. The daemon must know before more is
/// asked for: as long as something is being made, it can't tell from the driver's figure what earlier things
/// took.
CUresult set_local_memory_aside(const Context& context, const void* function, FirstLaunch& first) {
    const auto wanted = local_bytes_of(context, function);
    const auto taken = context.local_bytes_a_thread.load();
    if (wanted <= taken) return kSuccess;
    end_aside(first.code, true);
    first.code = SetAsideMemory{};
    const auto bytes = saturated_product(wanted - taken, resident_threads(context.gpu));
    first.local_bytes_a_thread = wanted;
    return set_aside(wire::Topic::load, context.gpu, bytes, first.local);
}

}  // namespace

bool is_first_launch(Context& context, const void* function) {
    const auto handle = reinterpret_cast<std::uintptr_t>(function);
    return !code_table().was_met(CodeTable::mark(handle, context.key())) ||
           context.limits_held.load(std::memory_order_relaxed);
}

CUresult before_launch(Context& context, const void* function, FirstLaunch& first) {
    const bool limits = context.limits_held.load(std::memory_order_relaxed);
    const auto handle = reinterpret_cast<std::uintptr_t>(function);
    if (!code_table().first_time(handle, context.key()) && !limits) return kSuccess;
    if (!session().isolates(context.gpu)) return kSuccess;
    const auto bytes = code_table().bytes_to_load(handle, context.key());
    const bool fresh = code_table().first_use(handle, context.key());
    CUresult refused = kSuccess;
    if (bytes != 0)
        refused = set_aside(wire::Topic::load, context.gpu, bytes, first.code);
    else if (fresh)
        announce_function(context.gpu, first.code);
    if (refused == kSuccess) refused = set_local_memory_aside(context, function, first);
    if (refused != kSuccess) {
        code_table().not_yet(handle, context.key());
        return refused;
    }
    first.function = function;
    if (limits) first.limits = held_for_limits(context);
    return kSuccess;
}

void after_first_launch(Context& context, const FirstLaunch& first, bool launched) {
    const auto handle = reinterpret_cast<std::uintptr_t>(first.function);
    end_aside(first.code, launched);
    end_aside(first.local, launched);
    if (launched) {
        local_memory_taken(context, first.local_bytes_a_thread);
        code_table().loaded(handle, context.key());
        end_aside(first.limits, true);
    } else {
        code_table().not_yet(handle, context.key());
        hold_for_limits(context, first.limits);
    }
    // Memory that the launch took without an announcement, such as that of graphs' kernels.
    errands().note_moved(context.gpu);
}

void hold_for_limits(Context& context, const SetAsideMemory& aside) {
    const Locked lock(context.limits_mutex);
    const SetAsideMemory before = context.limits;
    context.limits = aside;
    context.limits_held.store(aside.bytes != 0);
    end_aside(before, false);
}

SetAsideMemory held_for_limits(Context& context) {
    const Locked lock(context.limits_mutex);
    const SetAsideMemory held = context.limits;
    context.limits = SetAsideMemory{};
    context.limits_held.store(false);
    return held;
}

}  // namespace cgpu::front
