#pragma once

#include <istream>
#include <string>
#include <vector>

#include "client/node/node.hpp"

namespace cgpu::runtime {

/// `cgpu-runtime hook attach|mount|release …`, as edit_bundle() has put it into the container's config.json.
/// `state` is the container's state as JSON, which the runtime gives on stdin.
[[nodiscard]] client::Result<void> run_hook(const std::vector<std::string>& arguments, std::istream& state,
                                            client::Node& node);

}  // namespace cgpu::runtime
