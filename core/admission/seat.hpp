#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "core/admission/defaults.hpp"
#include "core/model/node.hpp"
#include "core/request/request.hpp"

namespace cgpu::admission {

/// A place on one GPU that a request could be given.
struct Seat {
    const model::Gpu* gpu = nullptr;
    model::Quota quota;
    std::uint32_t wanted_weight = 1;  ///< the quota's weight is less if less is free
    model::Bytes free_before;
    std::vector<std::string> warnings;
};

/// Why a drained GPU takes no instance.
inline constexpr std::string_view kDrained = "it is drained: it takes no new instance";

/// Objected to (busy): an administrator has drained the GPU.
[[nodiscard]] tl::expected<void, model::Objection> check_drained(const model::Gpu& gpu);

/// The seat of the request's `position`-th GPU on `gpu`, in that mode.
[[nodiscard]] tl::expected<Seat, model::Objection> find_seat(const model::Node& node, const model::Gpu& gpu,
                                                             const request::Request& request,
                                                             std::size_t position, model::Mode mode,
                                                             const Defaults& defaults);

}  // namespace cgpu::admission
