#pragma once

#include <atomic>
#include <cstdint>

namespace cgpu::front {

/// Bumped where what threads know of their launches may hold no longer: a context is new, what one's limits
/// ask for changes, code was unloaded (its functions' handles may be used again), or a function's first
/// launch came to nothing.
inline constinit std::atomic<std::uint32_t> launch_changes{0};

}  // namespace cgpu::front
