#pragma once

#include "client/cgpuctl/base/input.hpp"
#include "client/cgpuctl/output/terminal.hpp"
#include "client/node/node.hpp"

namespace cgpu::cgpuctl {

/// `cgpuctl list --kept`: prints the kept settings, a line for each device of a name.
[[nodiscard]] client::Result<void> list_kept(const Input& input, client::Node& node, Terminal& terminal);

}  // namespace cgpu::cgpuctl
