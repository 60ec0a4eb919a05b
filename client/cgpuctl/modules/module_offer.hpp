#pragma once

#include <string>
#include <vector>

namespace cgpu::cgpuctl {

/// A line about the newest installed version of the module, if it is newer than the one in force: packages
/// bring versions, and none takes effect by itself. Otherwise empty.
[[nodiscard]] std::string offer_text(const std::string& in_force, const std::vector<std::string>& installed);

}  // namespace cgpu::cgpuctl
