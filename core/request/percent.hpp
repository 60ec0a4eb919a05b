#pragma once

#include <cstdint>
#include <string>

#include <tl/expected.hpp>

namespace cgpu::request {

/// `percent` (1..100) of the compute as slices of a period of `max_inst` (1..25): percent × max_inst / 100.
/// Error if that is not whole: a sentence that names both neighbours, in slices and per cent.
[[nodiscard]] tl::expected<std::uint32_t, std::string> percent_to_slices(std::uint32_t percent,
                                                                         std::uint32_t max_inst);

}  // namespace cgpu::request
