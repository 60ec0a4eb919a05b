#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "core/limits/rules.hpp"

namespace cgpu::config {

/// Why an entry below `limits` isn't taken, and what to write instead.
struct BadLimit {
    std::string why;
    std::string remedy;
};

/// Takes an entry: limits.default.memory, limits.users.NAME.memory, limits.trust_declared_owners.
/// `path`: all of it.
[[nodiscard]] tl::expected<void, BadLimit> take_limit(limits::Rules& rules,
                                                      const std::vector<std::string>& path,
                                                      std::string_view value);

/// A part of a rule that is set: its path as in the file, and its value.
struct ShownLimit {
    std::vector<std::string> path;
    std::string value;
};

[[nodiscard]] std::vector<ShownLimit> show_limits(const limits::Rules& rules);

}  // namespace cgpu::config
