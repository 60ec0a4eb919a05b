#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

namespace cgpu::system {

/// A mount of a folder, not of a whole file system.
struct MountedFolder {
    dev_t device = 0;
    std::string root;  ///< the folder's path within its file system
};
/// All of them that the text of a /proc/PID/mountinfo has.
[[nodiscard]] std::vector<MountedFolder> mounted_folders(std::string_view mountinfo);
/// Whether it is this folder of the host: see mounts_folder.
[[nodiscard]] bool is_folder(const MountedFolder& mount, dev_t device, std::string_view folder);

/// Whether the text of a /proc/PID/mountinfo shows that this folder of the host (an absolute path, on the
/// file system `device`) is mounted anywhere. A mount's root is a path within its file system, so it is
/// compared with the end of the folder's path: only the owner of that file system could create another folder
/// that matches.
[[nodiscard]] bool mounts_folder(std::string_view mountinfo, dev_t device, std::string_view folder);

}  // namespace cgpu::system
