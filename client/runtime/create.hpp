#pragma once

#include <string>

#include "client/node/node.hpp"
#include "client/runtime/call/invocation.hpp"

namespace cgpu::runtime {

/// If the container requests a part of a GPU: admits it and prepares its bundle. `program` is for its hooks.
/// True: it has a limit now. If it gets GPUs without a request, the node is told. After an error no instance
/// is left.
[[nodiscard]] client::Result<bool> prepare(const Invocation& invocation, const std::string& program,
                                           client::Node& node);

}  // namespace cgpu::runtime
