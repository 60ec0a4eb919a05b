#pragma once

#include <string>

#include "client/cgpuctl/base/input.hpp"
#include "client/cgpuctl/output/terminal.hpp"
#include "client/node/node.hpp"

namespace cgpu::cgpuctl {

struct TraceInput : Input {
    std::string gpu;
    std::string seconds;
    std::string output;  ///< a file, or -
};

/// Returns when the trace has ended.
client::Result<void> trace_verb(const TraceInput& input, client::Node& node, Terminal& terminal);

}  // namespace cgpu::cgpuctl
