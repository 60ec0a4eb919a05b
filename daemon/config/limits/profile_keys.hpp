#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "core/request/profile.hpp"
#include "daemon/config/limits/values.hpp"

namespace cgpu::config {

/// Takes an entry: profiles.NAME.mem, profiles.NAME.max.mem. `path`: all of it.
[[nodiscard]] tl::expected<void, BadValue> take_profile(request::Profiles& profiles,
                                                        const std::vector<std::string>& path,
                                                        std::string_view value);

[[nodiscard]] std::vector<ShownValue> show_profiles(const request::Profiles& profiles);

}  // namespace cgpu::config
