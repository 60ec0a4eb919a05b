#pragma once

#include "module/front/contexts/context_table.hpp"

namespace cgpu::front {

/// The thread's current context; one that was made without a hook is taken in, and counted. Null: there is
/// none.
Context* current_context();

}  // namespace cgpu::front
