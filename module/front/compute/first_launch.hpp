#pragma once

#include "module/front/contexts/context_table.hpp"
#include "module/front/contexts/set_aside_memory.hpp"

namespace cgpu::front {

/// The first launch of a function in a context: with lazy loading the driver loads its code then, and it
/// takes the memory that the context's limits ask for at a launch.
struct FirstLaunch {
    const void* function = nullptr;  ///< null: it has been launched before
    SetAsideMemory code;
    SetAsideMemory limits;
};

/// Whether before_launch has something to do. This costs two loads.
bool is_first_launch(Context& context, const void* function);
/// Before a launch. kSuccess or kOutOfMemory.
CUresult before_launch(Context& context, const void* function, FirstLaunch& first);
void after_first_launch(Context& context, const FirstLaunch& first, bool launched);

/// What a context's limits ask for is held for it until a launch takes it.
void hold_for_limits(Context& context, const SetAsideMemory& aside);
/// Takes it out again; nothing where nothing is held.
SetAsideMemory held_for_limits(Context& context);

}  // namespace cgpu::front
