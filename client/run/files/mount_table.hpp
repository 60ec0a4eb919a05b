#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cgpu::client {

/// A mount of a mount namespace.
struct Mount {
    std::uint64_t id = 0;  ///< as statx(2) says it in stx_mnt_id
    std::string point;     ///< as seen from the root of the process that reads it
    bool shared = false;   ///< what is mounted on it appears in other mounts, other namespaces' among them

    friend bool operator==(const Mount&, const Mount&) = default;
};

/// Reads the text of a /proc/PID/mountinfo (proc(5)); lines that are none are left out.
[[nodiscard]] std::vector<Mount> read_mounts(std::string_view mountinfo);

/// Those of this process's namespace; none where /proc is not there.
[[nodiscard]] std::vector<Mount> mounts_here();

}  // namespace cgpu::client
