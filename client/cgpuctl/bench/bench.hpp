#pragma once

#include "client/cgpuctl/base/input.hpp"
#include "client/cgpuctl/bench/bench_plan.hpp"
#include "client/cgpuctl/output/terminal.hpp"
#include "client/node/node.hpp"

namespace cgpu::cgpuctl {

client::Result<void> bench(const BenchInput& input, client::Node& node, Terminal& terminal);

}  // namespace cgpu::cgpuctl
