#pragma once

#include <span>
#include <string_view>

namespace cgpu::model {

/// The name that was probably meant by a misspelt one: the known name that differs in the fewest letters.
/// Empty if about half of the letters differ in all of them, or if `written` has more than 64 bytes.
[[nodiscard]] std::string_view nearest(std::string_view written, std::span<const std::string_view> known);

}  // namespace cgpu::model
