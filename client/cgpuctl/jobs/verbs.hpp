#pragma once

#include <string>

#include "client/cgpuctl/base/input.hpp"
#include "client/cgpuctl/jobs/job_follow.hpp"
#include "client/cgpuctl/output/terminal.hpp"
#include "client/node/node.hpp"

/// Verbs whose work is a job of cgpud.
namespace cgpu::cgpuctl {

struct UpgradeInput : JobInput {
    std::string hot;
    std::string cold;
};

struct SetModeInput : JobInput {
    std::string mode;
    bool wait = false;
    bool runtime = false;
};

client::Result<void> upgrade(const UpgradeInput& input, client::Node& node, Terminal& terminal);
client::Result<void> set_mode(const SetModeInput& input, client::Node& node, Terminal& terminal);

}  // namespace cgpu::cgpuctl
