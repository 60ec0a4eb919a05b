#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace cgpu::system {

/// The pids of the processes that have this folder of the host (an absolute path) mounted somewhere in their
/// file system. Empty where there is no such folder. Takes some 10 µs a process and as much as a reading of
/// /proc/PID/mountinfo for each mount namespace.
[[nodiscard]] std::vector<std::int32_t> mounted_by(const std::filesystem::path& folder);

}  // namespace cgpu::system
