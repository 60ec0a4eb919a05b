#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/upgrade/version.hpp"

namespace cgpu::client {

/// Which processes have which engines mapped, by what /proc shows.
struct EngineUsers {
    std::map<upgrade::Version, std::vector<std::uint32_t>> processes;  ///< pids by rising number
    bool all_seen = true;  ///< false: there are processes that this user may not look at

    [[nodiscard]] std::vector<std::uint32_t> of(const upgrade::Version& version) const;
};

/// By the file's name: jobs and containers have the folder of modules mounted elsewhere. Who maps a file of
/// that name without being a job can hold up the removal of a version, and nothing else.
[[nodiscard]] EngineUsers find_engine_users(const std::string& proc = "/proc");

}  // namespace cgpu::client
