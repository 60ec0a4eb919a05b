#pragma once

#include <string>
#include <vector>

#include "client/node/snapshot.hpp"

namespace cgpu::cgpuctl {

/// Conditions that need an administrator's attention, each as `what: why. Try: …`.
[[nodiscard]] std::vector<std::string> warnings_about(const client::Snapshot& snapshot);

/// The warnings about GPUs that serve another mode than the node was switched to.
[[nodiscard]] std::vector<std::string> mode_warnings(const client::Snapshot& snapshot);

}  // namespace cgpu::cgpuctl
