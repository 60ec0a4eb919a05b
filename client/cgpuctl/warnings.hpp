#pragma once

#include <string>
#include <vector>

#include "client/node/snapshot.hpp"

namespace cgpu::cgpuctl {

/// What an administrator should look at, each as `what: why. Try: …`.
[[nodiscard]] std::vector<std::string> warnings_about(const client::Snapshot& snapshot);

}  // namespace cgpu::cgpuctl
