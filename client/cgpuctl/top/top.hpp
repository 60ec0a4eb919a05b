#pragma once

#include "client/cgpuctl/base/input.hpp"
#include "client/cgpuctl/output/terminal.hpp"
#include "client/cgpuctl/top/options.hpp"
#include "client/node/node.hpp"

namespace cgpu::cgpuctl {

/// Returns when the user ends it; without a terminal only with --batch.
client::Result<void> top_verb(const TopInput& input, client::Node& node, Terminal& terminal);

}  // namespace cgpu::cgpuctl
