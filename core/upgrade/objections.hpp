#pragma once

#include <string>
#include <vector>

#include "core/upgrade/manifest.hpp"
#include "core/upgrade/roster.hpp"

namespace cgpu::upgrade {

/// Which running processes can't go over to `target` while they run, and why: a sentence's part each, that
/// begins with the process. What has not said yet what it runs is taken for the version in force.
/// `installed`: the manifests that are there; a version that isn't among them can't be judged, and objects.
[[nodiscard]] std::vector<std::string> objections(const Roster& roster, const Version& in_force,
                                                  const Manifest& target,
                                                  const std::vector<Manifest>& installed);

}  // namespace cgpu::upgrade
