#pragma once

#include <string>
#include <vector>

#include "client/run/root.hpp"

namespace cgpu::client {

/// Where the loader finds libraries, each folder once, in its order: those of /etc/ld.so.conf with the files
/// it includes, the system's, and NVIDIA's container folders. As seen from the root; folders that are not
/// there are left out.
[[nodiscard]] std::vector<std::string> library_folders(const Root& root);

}  // namespace cgpu::client
