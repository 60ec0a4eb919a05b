#pragma once

#include "core/limits/allowance.hpp"
#include "core/view/limits.hpp"

namespace cgpu::app {

/// What holds for a holder, and what is in use of it; of limits for each GPU one for each that it is on.
[[nodiscard]] view::Limits view_of(const model::Node& node, const limits::Allowance& allowance);

}  // namespace cgpu::app
