#pragma once

#include "client/cgpuctl/base/input.hpp"
#include "client/cgpuctl/output/terminal.hpp"
#include "client/cgpuctl/report/request.hpp"
#include "client/node/node.hpp"

namespace cgpu::cgpuctl {

client::Result<void> report_verb(const ReportInput& input, client::Node& node, Terminal& terminal);

}  // namespace cgpu::cgpuctl
