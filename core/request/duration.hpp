#pragma once

#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "core/model/nanos.hpp"

namespace cgpu::request {

/// The longest one that is taken: a year.
constexpr model::Nanos kLongestDuration = 365 * 24 * 3600 * model::kSecond;

/// `90s`, `30m`, `1h30m`, `2d`: numbers with their units, the larger ones first; more than 0. Error: why it
/// is none, without the text.
[[nodiscard]] tl::expected<model::Nanos, std::string> parse_duration(std::string_view text);

/// In the same units, those that are 0 left out: `1h30m`. Parts of a second are dropped.
[[nodiscard]] std::string format_duration(model::Nanos duration);

}  // namespace cgpu::request
