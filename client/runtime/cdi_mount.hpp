#pragma once

#include <string>

#include "client/node/values/client_error.hpp"

namespace cgpu::runtime {

/// createContainer of a container with one of cgpu's CDI devices: mounts the fronts as mount_hook() does,
/// unless cgpu-runtime has made the container. `instances` is cgpud's folder of instances, `state` the
/// container's state as JSON. Errors are those of mount_hook().
[[nodiscard]] client::Result<void> cdi_mount_hook(const std::string& instances, const std::string& state);

}  // namespace cgpu::runtime
