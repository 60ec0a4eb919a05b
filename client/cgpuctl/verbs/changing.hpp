#pragma once

#include <string>

#include "client/cgpuctl/base/changes.hpp"
#include "client/cgpuctl/base/input.hpp"
#include "client/cgpuctl/output/terminal.hpp"
#include "client/node/node.hpp"

/// Verbs that change settings of GPUs, instances and the node.
namespace cgpu::cgpuctl {

struct DefaultMemoryInput : ChangingInput {
    std::string memory;
};

struct MemoryInput : InstanceSettingInput {
    bool wait = false;
    std::string timeout;  ///< of wait
};

struct ForgetInput : ChangingInput {
    std::string name;
    std::string owner;  ///< a user id
};

client::Result<void> set_policy(const GpuSettingInput& input, client::Node& node, Terminal& terminal);
client::Result<void> set_max_inst(const GpuSettingInput& input, client::Node& node, Terminal& terminal);
client::Result<void> set_prio_ratio(const GpuSettingInput& input, client::Node& node, Terminal& terminal);
client::Result<void> set_default_memory(const DefaultMemoryInput& input, client::Node& node,
                                        Terminal& terminal);
client::Result<void> set_weight(const InstanceSettingInput& input, client::Node& node, Terminal& terminal);
client::Result<void> set_priority(const InstanceSettingInput& input, client::Node& node, Terminal& terminal);
client::Result<void> set_memory(const MemoryInput& input, client::Node& node, Terminal& terminal);
client::Result<void> pause_verb(const InstanceSettingInput& input, client::Node& node, Terminal& terminal);
client::Result<void> resume_verb(const InstanceSettingInput& input, client::Node& node, Terminal& terminal);
client::Result<void> drain(const DrainInput& input, client::Node& node, Terminal& terminal);
client::Result<void> undrain(const DrainInput& input, client::Node& node, Terminal& terminal);
client::Result<void> forget(const ForgetInput& input, client::Node& node, Terminal& terminal);
client::Result<void> revert(const RevertInput& input, client::Node& node, Terminal& terminal);

}  // namespace cgpu::cgpuctl
