#pragma once

#include <cstddef>

#include "client/cgpuctl/doctor/base/finding.hpp"
#include "client/cgpuctl/output/json.hpp"
#include "client/cgpuctl/output/terminal.hpp"

namespace cgpu::cgpuctl::doctor {

[[nodiscard]] std::size_t count(const Findings& findings, Level level);

/// A line for each finding, below it what is to be done, and at the end how many there are of each level.
/// `quiet`: only what isn't ok.
void print(const Findings& findings, bool quiet, Terminal& terminal);
[[nodiscard]] Json to_json(const Findings& findings);

}  // namespace cgpu::cgpuctl::doctor
