#pragma once

#include <string>
#include <vector>

#include "client/cgpuctl/base/input.hpp"
#include "client/cgpuctl/output/terminal.hpp"
#include "client/node/node.hpp"

namespace cgpu::cgpuctl {

struct ConfigInput : Input {
    bool check = false;
};

struct ConfigFilesInput : Input {
    std::vector<std::string> files;
};

client::Result<void> config_show(const ConfigInput& input, client::Node& node, Terminal& terminal);
client::Result<void> config_check(const ConfigFilesInput& input, client::Node& node, Terminal& terminal);

}  // namespace cgpu::cgpuctl
