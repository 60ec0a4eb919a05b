#pragma once

#include <cstddef>
#include <string_view>

namespace simgpu {

/// What distinguishes the versions of the driver that NVML is built for (CMakeLists.txt).
struct NvmlDriver {
    const char* version;
    int cuda_version;

    [[nodiscard]] constexpr int major() const {
        int number = 0;
        for (const char digit : std::string_view(version).substr(0, 3)) number = number * 10 + (digit - '0');
        return number;
    }
    /// The size of the private table, as NVIDIA's libraries 470.256, 525.147, 535.261 and 550.163 have it.
    /// That of 580 isn't known; here it has the size of 555.58.
    [[nodiscard]] constexpr std::size_t table_bytes() const {
        if (major() < 525) return 1704;
        if (major() < 535) return 1904;
        if (major() < 550) return 1960;
        return major() < 555 ? 2008 : 2040;
    }
    /// Whether entries of the private lists of processes have the bytes that are protected: from 535 on.
    [[nodiscard]] constexpr bool has_protected_bytes() const { return major() >= 535; }
    /// From 535 on NVML's own version can be asked for before nvmlInit.
    [[nodiscard]] constexpr bool tells_version_before_init() const { return major() >= 535; }
};

extern const NvmlDriver kNvmlDriver;

}  // namespace simgpu
