#pragma once

#include <string>
#include <vector>

#include "client/cgpuctl/base/input.hpp"
#include "client/cgpuctl/output/terminal.hpp"
#include "client/cgpuctl/queue/reserve.hpp"
#include "client/node/node.hpp"

namespace cgpu::cgpuctl {

struct RunInput : PartInput {
    std::string user;
    std::vector<std::string> command;
};

/// Returns only if the command could not be started.
client::Result<void> run(const RunInput& input, client::Node& node, Terminal& terminal);

}  // namespace cgpu::cgpuctl
