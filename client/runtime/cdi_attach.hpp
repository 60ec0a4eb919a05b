#pragma once

#include <string>

#include "client/node/node.hpp"

namespace cgpu::runtime {

/// createRuntime of a container with one of cgpu's CDI devices. If cgpu-runtime has not made it, this admits
/// it and tells the node its first process. `state` is the container's state as JSON. Error (refused): what
/// another runtime makes can't be limited to the grant, since a hook can't change devices and variables any
/// more: its GPU is left to cgpud to choose, or it gets other GPUs, too. After an error no instance is left.
[[nodiscard]] client::Result<void> cdi_attach_hook(const std::string& state, client::Node& node);

}  // namespace cgpu::runtime
