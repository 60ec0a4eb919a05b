#pragma once

#include <string>

#include "client/cgpuctl/base/input.hpp"
#include "client/cgpuctl/output/terminal.hpp"
#include "client/node/node.hpp"

namespace cgpu::cgpuctl {

struct EventsInput : Input {
    std::string instance;
    std::string since;
    std::string lines;
    bool follow = false;
    std::string gpu;
    std::string type;
};

client::Result<void> events(const EventsInput& input, client::Node& node, Terminal& terminal);

}  // namespace cgpu::cgpuctl
