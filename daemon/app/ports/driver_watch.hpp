#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

namespace cgpu::app {

/// A file of a driver, as long as it isn't changed.
struct DriverFileId {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::int64_t changed_ns = 0;  ///< since 1970
    friend bool operator<(const DriverFileId& a, const DriverFileId& b) {
        return std::tie(a.device, a.inode, a.changed_ns) < std::tie(b.device, b.inode, b.changed_ns);
    }
};

/// Is told of each libcuda that an instance uses. The file may be one of a container's image.
class DriverWatch {
  public:
    virtual ~DriverWatch() = default;
    /// Whether was_read() was called for it.
    [[nodiscard]] virtual bool knows(const DriverFileId& file) const = 0;
    /// `path`: for people, and anybody's text. `newer`: elf::newer_functions().
    virtual void was_read(const DriverFileId& file, const std::string& path,
                          const std::vector<std::string>& newer) = 0;
};

}  // namespace cgpu::app
