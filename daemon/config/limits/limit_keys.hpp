#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "core/limits/rules.hpp"
#include "daemon/config/limits/values.hpp"

namespace cgpu::config {

/// Takes an entry: limits.default.memory, limits.users.NAME.memory, limits.trust_declared_owners.
/// `path`: all of it.
[[nodiscard]] tl::expected<void, BadValue> take_limit(limits::Rules& rules,
                                                      const std::vector<std::string>& path,
                                                      std::string_view value);

/// The same of a group below limits that has no keys: limits.users, limits.users.NAME, limits.default.
[[nodiscard]] tl::expected<void, BadValue> take_limits_group(const std::vector<std::string>& path);

[[nodiscard]] std::vector<ShownValue> show_limits(const limits::Rules& rules);

}  // namespace cgpu::config
