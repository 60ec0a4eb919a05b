#pragma once

#include <cstdint>

#include "daemon/app/ports/ports.hpp"

namespace cgpu::app {

/// What the right to one's own instances allows: that user's have no more of anything afterwards, and nobody
/// else's have changed. Refused: not_permitted.
[[nodiscard]] Result<void> check_lowered(const model::Node& before, const model::Node& after,
                                         std::uint32_t user);

}  // namespace cgpu::app
