#pragma once

#include <string>
#include <vector>

#include "client/cgpuctl/base/instance_meant.hpp"
#include "client/node/node.hpp"

namespace cgpu::cgpuctl {

/// Those that the words mean, each once, in the order of the words. Error: as instance_meant().
[[nodiscard]] client::Result<std::vector<client::Instance>> instances_meant(
    const client::Snapshot& snapshot, const std::vector<std::string>& words, const Saying& saying,
    client::Node& node);

}  // namespace cgpu::cgpuctl
