#pragma once

#include <string>

#include "client/node/client_error.hpp"

namespace cgpu::runtime {

/// createContainer: in the container's mount namespace, where the host's files are still to be seen, the
/// fronts go over the driver's files below `root_folder`. `library_path` is the LD_LIBRARY_PATH of its
/// process. Error (refused): there is no driver in it.
[[nodiscard]] client::Result<void> mount_hook(const std::string& link_folder, const std::string& root_folder,
                                              const std::string& library_path);

}  // namespace cgpu::runtime
