#pragma once

#include <sys/types.h>

#include <string_view>

namespace cgpu::system {

/// Whether the text of a /proc/PID/mountinfo says that this folder of the host (an absolute path, on the file
/// system `device`) is mounted somewhere. A mount's root is a path within its file system, so that is
/// compared with the end of the folder's path: who could make such a folder there is the one who owns that
/// file system.
[[nodiscard]] bool mounts_folder(std::string_view mountinfo, dev_t device, std::string_view folder);

}  // namespace cgpu::system
