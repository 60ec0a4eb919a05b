#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "daemon/app/ports/pid_place.hpp"

namespace cgpu::system {

/// The part of /proc/PID/status about a process's place.
struct PidStatus {
    std::vector<std::int32_t>
        pids;                 ///< NSpid: from the namespace of this /proc down to its own; empty: unread
    std::int32_t parent = 0;  ///< PPid; 0: none that is seen from here
};
[[nodiscard]] PidStatus parse_pid_status(std::string_view status);

/// Read from the status of the process and of its ancestors, which every user may read (unless /proc hides
/// them). Empty if there is no such process.
[[nodiscard]] app::PidPlace read_pid_place(std::int32_t pid);

}  // namespace cgpu::system
