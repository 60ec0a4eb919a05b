#pragma once

#include <string>

#include "core/admission/defaults.hpp"
#include "core/queue/base/queue.hpp"

namespace cgpu::queue {

/// What matters for its place on the GPUs, and for how long: requests of one shape fit in the same places.
/// Its name counts only if the configuration has a weight for it.
[[nodiscard]] std::string shape_of(const Waiting& waiting, const admission::Defaults& defaults);

}  // namespace cgpu::queue
