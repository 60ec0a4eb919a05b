#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Figures as they are drawn. `utf8`: the terminal shows more than ASCII.
namespace cgpu::cgpuctl::top {

/// A bar of exactly this many columns; `share` is 0..1. `mark`: a second share, shown by a stroke.
[[nodiscard]] std::string bar(std::optional<double> share, std::optional<double> mark, std::size_t width,
                              bool utf8);

/// The last shares (0..1, the oldest first) that fit, one column each, right-aligned in this many columns.
[[nodiscard]] std::string sparkline(const std::vector<std::optional<double>>& shares, std::size_t width,
                                    bool utf8);

/// Text of others that is one column wide for each of its code points: what a terminal may show in none or
/// in two columns is a question mark, and so is all that isn't ASCII on a terminal without UTF-8.
[[nodiscard]] std::string narrow(std::string_view text, bool utf8);

/// Exactly this many columns: cut, or filled with blanks.
[[nodiscard]] std::string left(std::string_view text, std::size_t width);
[[nodiscard]] std::string right(std::string_view text, std::size_t width);

}  // namespace cgpu::cgpuctl::top
