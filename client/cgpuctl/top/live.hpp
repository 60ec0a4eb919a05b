#pragma once

#include "client/cgpuctl/smi/reading.hpp"
#include "client/cgpuctl/top/options.hpp"
#include "client/node/node.hpp"

namespace cgpu::cgpuctl::top {

/// Shows the node on the terminal until the user ends it, the terminal goes, or --count readings were taken.
/// A signal that ends the program does so after the terminal is as it was before.
[[nodiscard]] client::Result<void> run_live(const Options& options, client::Node& node,
                                            const smi::Clock& clock, bool color);

}  // namespace cgpu::cgpuctl::top
