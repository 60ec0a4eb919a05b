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

/// The kind of cgpu's own devices, which `cgpuctl cdi generate` describes: parts of a GPU.
inline constexpr std::string_view kOwnCdiKind = "cgpu.org/gpu";

/// The first arguments of the hooks that such a device adds to a container. They are followed by `attach` or
/// `mount`, and by the name of the device.
inline constexpr std::array<std::string_view, 3> kCdiHook = {"cgpu-runtime", "hook", "cdi"};

}  // namespace cgpu::request
