#pragma once

#include "module/front/contexts/context_table.hpp"

namespace cgpu::front {

/// The thread's current context; one that was made without a hook is taken in, and counted. Null: there is
/// none.
///
/// A green context counts as the primary context, which has its memory and its code.
Context* current_context();

/// The context to which work in the stream belongs, as the plain functions take it; a green one, too. The
/// stream of a green context may be used while another context is current.
Context* context_of(CUstream stream);

}  // namespace cgpu::front
