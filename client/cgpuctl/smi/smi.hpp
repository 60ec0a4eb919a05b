#pragma once

#include <string>
#include <vector>

#include "client/cgpuctl/output/terminal.hpp"
#include "client/cgpuctl/smi/reading.hpp"
#include "client/node/node.hpp"

namespace cgpu::cgpuctl::smi {

/// cgpu-smi with these arguments. With --loop it returns only if the output can't be written, or after
/// --count readings. If the first reading fails, that is the error; a later failure (cgpud is being
/// restarted) is reported, and the next reading is taken.
[[nodiscard]] client::Result<void> run(const std::vector<std::string>& arguments, client::Node& node,
                                       Terminal& terminal, const Clock& clock);

}  // namespace cgpu::cgpuctl::smi
