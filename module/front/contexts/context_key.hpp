#pragma once

#include <cstdint>

namespace cgpu::front {

/// Stands in the engine for "whatever context this GPU has": what memory of its default pool belongs to.
/// (Contexts are addresses, so the small numbers are free.)
inline std::uint64_t any_context_key(int gpu) { return static_cast<std::uint64_t>(gpu) + 1; }

}  // namespace cgpu::front
