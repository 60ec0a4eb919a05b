#pragma once

#include <istream>
#include <string>

#include "client/node/node.hpp"

namespace cgpu::runtime {

/// createRuntime: from here on the instance lives with the container's first process. `state` is the
/// container's state as JSON, which the runtime passes on stdin; in later hooks it has the pid inside the
/// container.
[[nodiscard]] client::Result<void> attach_hook(const std::string& id, std::istream& state,
                                               client::Node& node);

}  // namespace cgpu::runtime
