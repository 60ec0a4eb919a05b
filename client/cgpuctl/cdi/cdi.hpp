#pragma once

#include <string>

#include "client/cgpuctl/base/input.hpp"
#include "client/cgpuctl/output/terminal.hpp"
#include "client/node/node.hpp"

namespace cgpu::cgpuctl {

struct CdiInput : Input {
    std::string output;  ///< a file
};

client::Result<void> cdi(const CdiInput& input, client::Node& node, Terminal& terminal);

}  // namespace cgpu::cgpuctl
