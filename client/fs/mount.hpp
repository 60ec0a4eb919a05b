#pragma once

#include <string>

#include "client/fs/node_view.hpp"
#include "client/node/values/client_error.hpp"

namespace cgpu::fs {

/// Mounts the tree on the folder, which is made if it is missing, serves it until a signal asks to end
/// (SIGTERM, SIGINT) or it is unmounted, unmounts it, and removes the folder if it is empty. What a former
/// process has left mounted there is unmounted first. Tells systemd once the tree is there. Errors (failed,
/// refused): it can't be mounted.
[[nodiscard]] client::Result<void> serve(NodeView& view, const std::string& folder);

}  // namespace cgpu::fs
