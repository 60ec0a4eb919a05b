#pragma once

#include <tl/expected.hpp>

#include "core/admission/defaults.hpp"
#include "core/queue/owners.hpp"

namespace cgpu::queue {

/// Whether the request could start if nothing else was on the node, no GPU was drained, and its owner had
/// nothing yet. If not, it has no use in the queue: the refusal is admission's, or the limits'.
[[nodiscard]] tl::expected<void, model::Refusal> could_fit(const model::Node& node, const Waiting& waiting,
                                                           const admission::Defaults& defaults,
                                                           const AllowanceOf& allowance_of);

}  // namespace cgpu::queue
