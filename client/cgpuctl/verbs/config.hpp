#pragma once

#include <string>
#include <vector>

#include "client/cgpuctl/base/input.hpp"
#include "client/cgpuctl/output/terminal.hpp"
#include "client/node/node.hpp"

namespace cgpu::cgpuctl {

struct ConfigInput : Input {
    std::string action;
    std::vector<std::string> files;
    bool check = false;
};

client::Result<void> config(const ConfigInput& input, client::Node& node, Terminal& terminal);

}  // namespace cgpu::cgpuctl
