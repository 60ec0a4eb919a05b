#pragma once

#include "module/front/contexts/context_table.hpp"

namespace cgpu::front {

/// Reports the closed batches of a context that the GPU has finished to the engine. True if there was one.
bool reap(Context& context);

/// Closes and reaps all batches of a GPU: a waiting launch does that before it waits.
bool settle(int gpu);

/// The service thread's round over all contexts: closes batches that have had no launch for 1 ms, and reaps.
/// Returns when to call again.
std::int64_t look_after_batches(std::int64_t now);

}  // namespace cgpu::front
