#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "client/cgpuctl/doctor/base/finding.hpp"

namespace cgpu::cgpuctl::doctor {

/// The oldest driver that has the functions which the module and cgpud need.
constexpr unsigned kOldestDriver = 470;
/// The driver of CUDA 13.0, whose functions the module's tables have.
constexpr unsigned kNewestDriver = 580;

struct KernelModule {
    std::string version;  ///< 580.65.06
    bool open = false;    ///< NVIDIA's open kernel modules
};

/// Reads /proc/driver/nvidia/version; empty if it has no version.
[[nodiscard]] std::optional<KernelModule> read_kernel_module(std::string_view text);

/// `580.65.06` of `/usr/lib/…/libcuda.so.580.65.06`; empty if the name has no such end.
[[nodiscard]] std::string version_of_library(const std::string& path);

/// The versions that each part of the driver has; an empty one isn't known.
struct DriverVersions {
    std::string kernel;
    std::string library;  ///< of libcuda's file
    std::string nvml;     ///< as cgpud's NVML says it
};

/// Whether they are alike and known to cgpu. At least one isn't empty.
[[nodiscard]] Findings judge_driver(const DriverVersions& versions);

}  // namespace cgpu::cgpuctl::doctor
