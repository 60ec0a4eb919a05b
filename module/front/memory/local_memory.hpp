#pragma once

#include <cstdint>

#include "module/front/contexts/context_table.hpp"

namespace cgpu::front {

// Local memory of a context: what its kernels spill and what their stacks need. The driver takes it at the
// first launch of a kernel that needs more for each thread than any before, for all threads that the GPU can
// run at once, and keeps it until the context's end.

/// How many bytes for each thread a function or kernel needs (as a launch names it); 0 also if that is
/// unknown: for the handles of graphs, and for functions that the hooks have not seen the driver give. The
/// driver may load the function's code for the answer.
std::uint64_t local_bytes_of(const Context& context, const void* function);

/// A launch has taken so much for each thread, if no launch before took more.
void local_memory_taken(Context& context, std::uint64_t bytes_a_thread);

}  // namespace cgpu::front
