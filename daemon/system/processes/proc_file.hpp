#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace cgpu::system {

/// The text of a file of /proc, of which no more than 8 MiB (rounded up to a read) are taken. Error: the
/// errno.
[[nodiscard]] tl::expected<std::string, int> read_text(const std::string& path);

/// Field `number` (3 or later) of the text of /proc/PID/stat, as a number. The second field is the program's
/// name in parentheses and may contain anything, also parentheses and spaces, so fields are counted after the
/// last ")".
[[nodiscard]] std::optional<std::uint64_t> field_in(std::string_view stat, int number);

}  // namespace cgpu::system
