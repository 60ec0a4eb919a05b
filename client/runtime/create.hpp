#pragma once

#include <string>

#include "client/node/node.hpp"
#include "client/runtime/call/invocation.hpp"

namespace cgpu::runtime {

/// Admits the container and prepares its bundle, where it asks for a part of a GPU. `program` is for its
/// hooks. True: it is an instance now. After an error nothing of it is left.
[[nodiscard]] client::Result<bool> prepare(const Invocation& invocation, const std::string& program,
                                           client::Node& node);

}  // namespace cgpu::runtime
