#pragma once

#include <string>
#include <vector>

#include "client/cgpuctl/base/input.hpp"
#include "client/cgpuctl/instances/chosen.hpp"
#include "client/cgpuctl/output/terminal.hpp"
#include "client/node/node.hpp"

/// Verbs about the processes of instances, their names and their end.
namespace cgpu::cgpuctl {

struct PsInput : Choice {
    std::vector<std::string> instances;
};

struct LogsInput : Input {
    std::string instance;
};

struct WaitInput : Input {
    std::vector<std::string> instances;
    std::string timeout;
};

struct StopInput : Input {
    std::vector<std::string> instances;
    std::string grace;  ///< seconds
};

struct ExtendInput : ChangingInput {
    std::vector<std::string> instances;
    std::string time;  ///< a duration
};

struct RenameInput : ChangingInput {
    std::string instance;
    std::string name;
};

client::Result<void> ps_verb(const PsInput& input, client::Node& node, Terminal& terminal);
client::Result<void> logs_verb(const LogsInput& input, client::Node& node, Terminal& terminal);
/// Returns when all have ended.
client::Result<void> wait_verb(const WaitInput& input, client::Node& node, Terminal& terminal);
/// Returns when all are gone.
client::Result<void> stop_verb(const StopInput& input, client::Node& node, Terminal& terminal);
client::Result<void> extend_verb(const ExtendInput& input, client::Node& node, Terminal& terminal);
client::Result<void> rename_verb(const RenameInput& input, client::Node& node, Terminal& terminal);

}  // namespace cgpu::cgpuctl
