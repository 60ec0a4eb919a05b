#pragma once

#include "module/front/contexts/context_table.hpp"
#include "module/front/session/session.hpp"

namespace cgpu::front {

/// How an allocation of the current context is to be handled.
struct Place {
    Route route = Route::pass;
    Context* context = nullptr;
    CUresult refusal = kSuccess;  ///< for Route::broken: what to answer
};

/// Route::managed only where the current context's GPU isolates memory. `what` names the function in a
/// notice.
Place place_of_current(const char* what);

}  // namespace cgpu::front
