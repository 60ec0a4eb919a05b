#pragma once

#include <atomic>
#include <cstdint>

namespace cgpu::front {

/// Incremented when the threads' knowledge about their launches may be outdated: a context was made, a
/// context's limits changed, code was unloaded (the handles of its functions may be used again), or a
/// function's first launch failed.
inline constinit std::atomic<std::uint32_t> launch_changes{0};

}  // namespace cgpu::front
