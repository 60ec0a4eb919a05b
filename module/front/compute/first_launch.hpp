#pragma once

#include "module/front/contexts/context_table.hpp"
#include "module/front/contexts/set_aside_memory.hpp"

namespace cgpu::front {

/// The first launch of a function in a context: with lazy loading the driver loads its code then, and takes
/// the memory that the context's limits request for a launch, and local memory that the function needs.
struct FirstLaunch {
    const void* function = nullptr;  ///< null: it has been launched before
    SetAsideMemory code;
    SetAsideMemory local;
    std::uint64_t local_bytes_a_thread = 0;
    SetAsideMemory limits;
};

/// Whether before_launch has anything to do. This costs two loads.
bool is_first_launch(Context& context, const void* function);
/// Before a launch. kSuccess or kOutOfMemory.
CUresult before_launch(Context& context, const void* function, FirstLaunch& first);
void after_first_launch(Context& context, const FirstLaunch& first, bool launched);

/// Holds the memory that a context's limits request, until a launch takes it.
void hold_for_limits(Context& context, const SetAsideMemory& aside);
/// Removes and returns the held memory; empty if nothing is held.
SetAsideMemory held_for_limits(Context& context);

}  // namespace cgpu::front
