#pragma once

#include <optional>
#include <string>

#include "tests/sim/device/file/device.hpp"

namespace simgpu {

/// The limits of cgroups' memory that the driver was given, inside one Session.
class MemoryLimits {
  public:
    explicit MemoryLimits(Session& session) : session_(session), limits_(session.layout().memory_limits) {}

    /// `hard` all ones and `soft` 0: none any more. @return whether there was room for it.
    bool set(std::uint32_t gpu, std::uint64_t cgroup, std::uint64_t soft, std::uint64_t hard);
    /// That of the folder, or else of the nearest one above it that has one.
    [[nodiscard]] std::optional<MemoryLimit> nearest(std::uint32_t gpu, std::string folder) const;

  private:
    Session& session_;
    MemoryLimit* limits_;
};

/// The inode of a cgroup's folder; 0: there is no such folder.
std::uint64_t cgroup_number(const std::string& folder);

constexpr std::uint64_t kNoMemoryLimit = ~std::uint64_t{0};

}  // namespace simgpu
