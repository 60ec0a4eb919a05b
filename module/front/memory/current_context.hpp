#pragma once

#include "module/front/contexts/context_table.hpp"

namespace cgpu::front {

/// The thread's current context; one that no hook has seen being made is taken in, and counted. Null: there
/// is none.
Context* current_context();

}  // namespace cgpu::front
