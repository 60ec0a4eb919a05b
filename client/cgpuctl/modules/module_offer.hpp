#pragma once

#include <string>
#include <vector>

namespace cgpu::cgpuctl {

/// A line about the newest version of the module that is installed, where it is newer than the one in force:
/// a package brings versions, and none goes into force by itself. Else empty.
[[nodiscard]] std::string offer_text(const std::string& in_force, const std::vector<std::string>& installed);

}  // namespace cgpu::cgpuctl
