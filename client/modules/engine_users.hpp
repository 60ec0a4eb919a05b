#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/upgrade/version.hpp"

namespace cgpu::client {

/// Which processes have which engines mapped, according to /proc.
struct EngineUsers {
    std::map<upgrade::Version, std::vector<std::uint32_t>> processes;  ///< pids in ascending order
    bool all_seen = true;  ///< false: there are processes that this user may not examine

    [[nodiscard]] std::vector<std::uint32_t> of(const upgrade::Version& version) const;
};

/// Engines are identified by file name, because jobs and containers have the folder of modules mounted at
/// other paths. A process that maps a file of that name without being a job can only delay the removal of a
/// version.
[[nodiscard]] EngineUsers find_engine_users(const std::string& proc = "/proc");

}  // namespace cgpu::client
