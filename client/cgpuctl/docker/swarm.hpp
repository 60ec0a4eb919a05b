#pragma once

#include <string>

#include "client/cgpuctl/base/input.hpp"
#include "client/cgpuctl/output/terminal.hpp"
#include "client/node/node.hpp"

namespace cgpu::cgpuctl {

struct SwarmInput : Input {
    bool remove = false;
    std::string file;
};

client::Result<void> swarm(const SwarmInput& input, client::Node& node, Terminal& terminal);

}  // namespace cgpu::cgpuctl
