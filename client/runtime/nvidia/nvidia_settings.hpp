#pragma once

#include <string>
#include <string_view>

#include "client/runtime/oci/oci_bundle.hpp"

namespace cgpu::runtime {

/// How NVIDIA's runtime lets a container name its GPUs, by its configuration.
struct NvidiaSettings {
    bool by_variable = true;  ///< accept-nvidia-visible-devices-envvar-when-unprivileged
    bool by_volumes = false;  ///< accept-nvidia-visible-devices-as-volume-mounts

    friend bool operator==(const NvidiaSettings&, const NvidiaSettings&) = default;
};

constexpr const char* kNvidiaSettings = "/etc/nvidia-container-runtime/config.toml";

/// What the file says before its first table; the rest, and what isn't a truth value there, is as in NVIDIA's
/// defaults.
[[nodiscard]] NvidiaSettings read_nvidia_settings(std::string_view text);
/// Of this machine; without the file, NVIDIA's defaults.
[[nodiscard]] NvidiaSettings nvidia_settings(const std::string& file = kNvidiaSettings);

/// Whether the granted GPUs must be named by volumes, because the variable doesn't count for this container.
/// It does for one that has CAP_SYS_ADMIN, which NVIDIA's toolkit calls privileged.
[[nodiscard]] bool must_use_volumes(const NvidiaSettings& settings, const OciBundle& bundle);

}  // namespace cgpu::runtime
