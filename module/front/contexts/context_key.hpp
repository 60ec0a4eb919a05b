#pragma once

#include <cstdint>

namespace cgpu::front {

/// Stands in the engine for "any context of this GPU": the owner of memory of the GPU's default pool.
/// (Contexts are addresses, so small numbers are free.)
inline std::uint64_t any_context_key(int gpu) { return static_cast<std::uint64_t>(gpu) + 1; }

}  // namespace cgpu::front
