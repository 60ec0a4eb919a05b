#pragma once

#include <array>
#include <optional>
#include <string_view>

/// Names of the Container Device Interface (CDI): VENDOR/CLASS=DEVICE.
namespace cgpu::request {

/// NVIDIA's kinds whose devices are whole GPUs: those of a specification in a file, those that NVIDIA's
/// runtime makes itself, and those for programs that manage the driver.
inline constexpr std::array<std::string_view, 3> kCdiGpuKinds = {
    "nvidia.com/gpu=", "runtime.nvidia.com/gpu=", "management.nvidia.com/gpu="};

/// The device of a CDI name of NVIDIA's GPUs: `1` of `nvidia.com/gpu=1`; null for any other text.
[[nodiscard]] constexpr std::optional<std::string_view> gpu_of_cdi_name(std::string_view name) {
    for (const std::string_view kind : kCdiGpuKinds)
        if (name.starts_with(kind)) return name.substr(kind.size());
    return std::nullopt;
}

}  // namespace cgpu::request
