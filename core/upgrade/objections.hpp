#pragma once

#include <string>
#include <vector>

#include "core/upgrade/manifest.hpp"
#include "core/upgrade/roster.hpp"

namespace cgpu::upgrade {

/// Which running processes can't change to `target` while they run, and why: for each a part of a sentence
/// that begins with the process. A process that has not reported its version is taken to run the version in
/// force. `installed`: the installed manifests; a process that runs any other version can't be judged, and
/// objects.
[[nodiscard]] std::vector<std::string> objections(const Roster& roster, const Version& in_force,
                                                  const Manifest& target,
                                                  const std::vector<Manifest>& installed);

}  // namespace cgpu::upgrade
