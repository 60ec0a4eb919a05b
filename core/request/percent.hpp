#pragma once

#include <cstdint>
#include <string>

#include <tl/expected.hpp>

namespace cgpu::request {

/// The slices of a period of `max_inst` (1..25) that `percent` (1..100) of the compute is: percent × max_inst
/// / 100. Error when that is not whole: a sentence that names both neighbours, in slices and per cent.
[[nodiscard]] tl::expected<std::uint32_t, std::string> percent_to_slices(std::uint32_t percent,
                                                                         std::uint32_t max_inst);

}  // namespace cgpu::request
