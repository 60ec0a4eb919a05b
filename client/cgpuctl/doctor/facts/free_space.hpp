#pragma once

#include <cstdint>
#include <string>

#include "client/cgpuctl/doctor/base/finding.hpp"

namespace cgpu::cgpuctl::doctor {

/// The state is some kilobytes, and is written as a whole before it replaces the former one.
constexpr std::uint64_t kTooFull = std::uint64_t{1} << 20;
constexpr std::uint64_t kNearlyFull = std::uint64_t{16} << 20;

/// What is left for cgpud's user on a file system.
struct Space {
    std::uint64_t bytes = 0;
    bool has_blocks = true;  ///< else it counts no bytes
    std::uint64_t files = 0;
    bool has_files = true;  ///< else it counts no files
    bool read_only = false;
};

[[nodiscard]] Finding judge_space(const char* check, const std::string& folder, const char* effect,
                                  const Space& space);

}  // namespace cgpu::cgpuctl::doctor
