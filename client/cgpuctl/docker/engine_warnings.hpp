#pragma once

#include <string>
#include <vector>

namespace cgpu::cgpuctl {

/// What `cgpuctl runtime configure` wrote on this machine and another program has overwritten, as
/// `what: why. Try: …`. Files that the caller may not read have none. `root`: tests exchange it.
[[nodiscard]] std::vector<std::string> engine_warnings(const std::string& root = "");

}  // namespace cgpu::cgpuctl
