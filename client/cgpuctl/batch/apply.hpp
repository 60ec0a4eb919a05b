#pragma once

#include <string>

#include "client/cgpuctl/base/input.hpp"
#include "client/cgpuctl/output/terminal.hpp"
#include "client/node/node.hpp"

namespace cgpu::cgpuctl {

struct ApplyInput : ChangingInput {
    std::string file;
    bool skip_missing = false;
};

client::Result<void> apply(const ApplyInput& input, client::Node& node, Terminal& terminal);

}  // namespace cgpu::cgpuctl
