#pragma once

#include <cstdint>
#include <optional>

#include "core/model/quota.hpp"

namespace cgpu::model {

/// The slices of a period of `max_inst` (1..25) that `percent` (1..100) of the compute is: percent × max_inst
/// / 100. Nothing where that is no whole number of slices, or the percentage is out of range.
[[nodiscard]] constexpr std::optional<std::uint32_t> slices_of(std::uint32_t percent,
                                                               std::uint32_t max_inst) {
    if (percent < 1 || percent > 100 || percent * max_inst % 100 != 0) return std::nullopt;
    return percent * max_inst / 100;
}

/// What the quota's weight is where its GPU has this max_inst: of a percentage so many per cent of it, else
/// the number that it is. Nothing where the percentage is no whole number of slices then.
[[nodiscard]] constexpr std::optional<std::uint32_t> weight_under(const Quota& quota,
                                                                  std::uint32_t max_inst) {
    return quota.percent ? slices_of(*quota.percent, max_inst) : quota.weight;
}

}  // namespace cgpu::model
