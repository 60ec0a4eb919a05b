#pragma once

#include <cstdint>
#include <numeric>
#include <optional>

#include "core/model/quota.hpp"

namespace cgpu::model {

/// `percent` (1..100) of the compute as slices of a period of `max_inst` (1..25): percent × max_inst / 100.
/// Empty if that is not a whole number of slices, or the percentage is out of range.
[[nodiscard]] constexpr std::optional<std::uint32_t> slices_of(std::uint32_t percent,
                                                               std::uint32_t max_inst) {
    if (percent < 1 || percent > 100 || percent * max_inst % 100 != 0) return std::nullopt;
    return percent * max_inst / 100;
}

/// The smallest percentage that is a whole number of slices; all others are multiples of it.
[[nodiscard]] constexpr std::uint32_t least_percent(std::uint32_t max_inst) {
    return 100 / std::gcd(max_inst, 100U);
}

/// The quota's weight if its GPU has this max_inst: that percentage of it, or the fixed number. Empty if the
/// percentage is not a whole number of slices then.
[[nodiscard]] constexpr std::optional<std::uint32_t> weight_under(const Quota& quota,
                                                                  std::uint32_t max_inst) {
    return quota.percent ? slices_of(*quota.percent, max_inst) : quota.weight;
}

}  // namespace cgpu::model
