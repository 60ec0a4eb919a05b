#pragma once

#include "client/node/client_error.hpp"
#include "client/run/mount_plan.hpp"

namespace cgpu::client {

/// Writes `front.made` (mode 0755, its folder is made): the front without the exports that the driver's file
/// lacks.
[[nodiscard]] Result<void> write_fitted_front(const FittedFront& front);

}  // namespace cgpu::client
