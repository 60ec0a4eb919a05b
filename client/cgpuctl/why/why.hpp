#pragma once

#include <string>

#include "client/cgpuctl/base/input.hpp"
#include "client/cgpuctl/output/terminal.hpp"
#include "client/node/node.hpp"

namespace cgpu::cgpuctl {

struct WhyInput : Input {
    std::string instance;
    std::string gpu;
    std::string seconds;
};

/// Returns after the time that is measured.
client::Result<void> why_verb(const WhyInput& input, client::Node& node, Terminal& terminal);

}  // namespace cgpu::cgpuctl
