#pragma once

#include "client/cgpuctl/base/input.hpp"
#include "client/cgpuctl/output/terminal.hpp"
#include "client/node/node.hpp"

namespace cgpu::cgpuctl {

/// Error (failed): a problem was found. What was found is printed before.
client::Result<void> doctor_verb(const Input& input, client::Node& node, Terminal& terminal);

}  // namespace cgpu::cgpuctl
