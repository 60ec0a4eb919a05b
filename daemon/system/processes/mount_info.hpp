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

/// Whether the text shows a front that the process can open, and no link of an instance where fronts look for
/// it: the process runs in a root or a sandbox that has the driver's libraries of its job, and not /run/cgpu.
/// A mount that another one covers doesn't count. (A front or a link that isn't a mount there isn't seen, nor
/// is one among more than 4096 mounts or behind more than 32 on its way: that bounds the time that a text
/// takes.)
[[nodiscard]] bool is_cut_off(std::string_view mountinfo);

}  // namespace cgpu::system
