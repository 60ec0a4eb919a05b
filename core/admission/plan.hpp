#pragma once

#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "core/admission/seat.hpp"

namespace cgpu::admission {

/// A seat for every GPU that a request asks for, in the order in which the container sees them, all in one
/// mode.
struct Plan {
    model::Mode mode = model::Mode::memory_compute;
    std::vector<Seat> seats;
};

/// For a request that names its GPUs: those, or a refusal.
[[nodiscard]] tl::expected<Plan, model::Refusal> plan_named(const model::Node& node,
                                                            const request::Request& request,
                                                            const Defaults& defaults);

/// For a request that names no GPU: the best GPUs by the node's placement. A GPU on which the request gets
/// its weight comes before one where it gets less; then the fullest (binpack) or the emptiest (spread) by
/// free bytes; then the lower index.
[[nodiscard]] tl::expected<Plan, model::Refusal> plan_placed(const model::Node& node,
                                                             const request::Request& request,
                                                             const Defaults& defaults);

/// The request, as the first part of a refusal: `5120MiB and 25% of the compute`.
[[nodiscard]] std::string describe(const request::Request& request, const Defaults& defaults);

}  // namespace cgpu::admission
