#pragma once

#include <string>
#include <vector>

#include "client/run/root.hpp"

namespace cgpu::client {

/// Where the loader finds libraries, each folder once, in its order: those of `library_path` (LD_LIBRARY_PATH
/// as the program will have it; entries that are not absolute are left out), those of /etc/ld.so.conf with
/// the files it includes, the system's, and NVIDIA's container folders. As seen from the root; folders that
/// are not there are left out.
[[nodiscard]] std::vector<std::string> library_folders(const Root& root, const std::string& library_path);

/// Where images ship a driver of their own, for CUDA's forward compatibility, and programs come by it by an
/// LD_LIBRARY_PATH or a path of their own: /usr/local/cuda*/compat and the folders in it (NVIDIA's
/// cuda-compat packages; NGC's images have it in compat/lib.real).
[[nodiscard]] std::vector<std::string> shipped_driver_folders(const Root& root);

}  // namespace cgpu::client
