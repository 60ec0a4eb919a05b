#pragma once

#include <string>

#include "client/cgpuctl/base/input.hpp"
#include "client/cgpuctl/output/terminal.hpp"
#include "client/node/node.hpp"

namespace cgpu::cgpuctl {

/// The part of a GPU that a command line asks for.
struct PartInput : Input {
    std::string memory;
    std::string weight;
    std::string compute;
    std::string profile;
    std::string time;  ///< a duration, as the next
    std::string idle;
    std::string priority;
    std::string gpus;
    std::string wait_for;  ///< --wait: a duration, or forever
    std::string name;      ///< of the instance
};

struct ReserveInput : PartInput {
    std::string hold;  ///< a duration
};

client::Result<void> reserve_verb(const ReserveInput& input, client::Node& node, Terminal& terminal);
client::Result<void> queue_verb(const Input& input, client::Node& node, Terminal& terminal);

}  // namespace cgpu::cgpuctl
