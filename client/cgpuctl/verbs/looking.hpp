#pragma once

#include <string>

#include "client/cgpuctl/base/input.hpp"
#include "client/cgpuctl/instances/chosen.hpp"
#include "client/cgpuctl/output/terminal.hpp"
#include "client/node/node.hpp"

/// Verbs that show something.
namespace cgpu::cgpuctl {

struct ListInput : Choice {
    bool kept = false;
};

struct ShowInput : Input {
    std::string target;  ///< a GPU or an instance
};

struct LimitsInput : Input {
    std::string user;
};

struct InspectInput : Input {
    bool details = false;
};

client::Result<void> status(const Input& input, client::Node& node, Terminal& terminal);
client::Result<void> list(const ListInput& input, client::Node& node, Terminal& terminal);
client::Result<void> show(const ShowInput& input, client::Node& node, Terminal& terminal);
client::Result<void> limits(const LimitsInput& input, client::Node& node, Terminal& terminal);
client::Result<void> describe(const Input& input, client::Node& node, Terminal& terminal);
client::Result<void> inspect(const InspectInput& input, client::Node& node, Terminal& terminal);

}  // namespace cgpu::cgpuctl
