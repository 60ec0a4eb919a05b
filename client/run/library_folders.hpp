#pragma once

#include <string>
#include <vector>

namespace cgpu::client {

/// Where the loader finds libraries, each folder once, in its order: those of /etc/ld.so.conf with the files
/// it includes, the system's, and NVIDIA's container folders. `root` stands before every path; empty for the
/// system itself. The results are without it. Folders that are not there are left out.
[[nodiscard]] std::vector<std::string> library_folders(const std::string& root);

}  // namespace cgpu::client
