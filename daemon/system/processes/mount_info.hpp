#pragma once

#include <sys/types.h>

#include <string_view>

namespace cgpu::system {

/// Whether the text of a /proc/PID/mountinfo shows that this folder of the host (an absolute path, on the
/// file system `device`) is mounted anywhere. A mount's root is a path within its file system, so it is
/// compared with the end of the folder's path: only the owner of that file system could create another folder
/// that matches.
[[nodiscard]] bool mounts_folder(std::string_view mountinfo, dev_t device, std::string_view folder);

}  // namespace cgpu::system
