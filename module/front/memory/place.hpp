#pragma once

#include "module/front/contexts/context_table.hpp"
#include "module/front/session/session.hpp"

namespace cgpu::front {

/// How to handle an allocation of the current context.
struct Place {
    Route route = Route::pass;
    Context* context = nullptr;
    CUresult refusal = kSuccess;  ///< for Route::broken: the result to return
};

/// Route::managed only if the current context's GPU isolates memory. `what` names the function in a notice.
Place place_of_current(const char* what);

}  // namespace cgpu::front
