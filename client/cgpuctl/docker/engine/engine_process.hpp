#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace cgpu::cgpuctl {

/// A running engine. What its command line says is taken as the description of that process; nothing is
/// executed by it.
struct EngineProcess {
    pid_t pid = 0;
    std::vector<std::string> words;  ///< of its command line
    std::string folder;              ///< /proc/PID
    bool own_users = false;          ///< it is in a namespace of users of its own

    /// As an absolute path; relative ones are from its working folder.
    [[nodiscard]] std::string absolute(const std::string& path) const;
    /// Of its environment; empty: it isn't set, or can't be read.
    [[nodiscard]] std::string variable(std::string_view name) const;
    /// Whether it sees this path as the caller does. `executable`: and may run it.
    [[nodiscard]] bool sees(const std::string& path, bool executable) const;
};

/// Those of this name and of the same user, in the order of their pids; none in a container, which has its
/// own namespace of processes. `proc`: a test's own folder instead of /proc.
[[nodiscard]] std::vector<EngineProcess> engine_processes(std::string_view name,
                                                          const std::string& proc = "/proc");

}  // namespace cgpu::cgpuctl
