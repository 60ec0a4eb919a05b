#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "client/node/values/client_error.hpp"
#include "files/descriptor.hpp"

namespace cgpu::client {

/// A mount of a mount namespace.
struct Mount {
    std::uint64_t id = 0;  ///< stx_mnt_id of statx(2)
    std::string point;     ///< as seen from the root of the process that reads it
    bool shared = false;   ///< mounts on it propagate to other mounts, also in other namespaces
    bool slave = false;    ///< mounts on the mount that it copies propagate to it
    std::string device;    ///< "8:1": of the file system, whatever st_dev its files have
    std::string root;      ///< the folder or file of the file system that is shown at the point

    friend bool operator==(const Mount&, const Mount&) = default;
};

/// Reads the text of a /proc/PID/mountinfo (proc(5)); invalid lines are left out.
[[nodiscard]] std::vector<Mount> read_mounts(std::string_view mountinfo);

/// The whole table behind a descriptor, read from where it stands, or by a path such as /proc/PID/mountinfo.
/// Error (failed): it can't be read to its end; a part of it would hide mounts.
[[nodiscard]] Result<std::vector<Mount>> read_mount_table(const Descriptor& table);
[[nodiscard]] Result<std::vector<Mount>> read_mount_table(const std::string& path);

/// The mounts of this process's namespace. Error: as read_mount_table().
[[nodiscard]] Result<std::vector<Mount>> mounts_here();

}  // namespace cgpu::client
