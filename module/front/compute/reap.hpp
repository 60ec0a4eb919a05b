#pragma once

#include "module/front/contexts/context_table.hpp"

namespace cgpu::front {

/// Tells the engine of the closed batches of a context that the GPU is done with. True where there was one.
bool reap(Context& context);

/// Closes and reaps everything of a GPU: what a waiting launch does before it waits.
bool settle(int gpu);

/// The service thread's round over all contexts: closes batches that have had no launch for 1 ms, reaps.
/// Returns when to come again.
std::int64_t look_after_batches(std::int64_t now);

}  // namespace cgpu::front
