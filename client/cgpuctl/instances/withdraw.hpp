#pragma once

#include <string>
#include <vector>

#include "client/cgpuctl/base/instance_meant.hpp"
#include "client/cgpuctl/instances/verbs.hpp"
#include "client/cgpuctl/output/terminal.hpp"
#include "client/node/node.hpp"

namespace cgpu::cgpuctl {

/// Of `stop`: takes the requests that wait, which these words mean, out of the queue, and gives reservations
/// back, unless it is a dry run. Returns the words that mean neither.
[[nodiscard]] client::Result<std::vector<std::string>> withdraw(const client::Snapshot& snapshot,
                                                                const StopInput& input, client::Node& node,
                                                                Terminal& terminal);

}  // namespace cgpu::cgpuctl
