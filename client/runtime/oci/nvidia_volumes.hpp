#pragma once

#include <string>
#include <vector>

#include "client/runtime/oci/oci_bundle.hpp"

/// Volumes by which NVIDIA's toolkit takes the names of GPUs, if the administrator has allowed it
/// (accept-nvidia-visible-devices-as-volume-mounts): /dev/null mounted at a path below
/// /var/run/nvidia-container-devices, whose rest is a GPU's name. They count before NVIDIA_VISIBLE_DEVICES.
namespace cgpu::runtime {

/// The names of GPUs in such volumes: `0`, `all`, `GPU-…`; of `cdi/nvidia.com/gpu/0`, the last part.
[[nodiscard]] std::vector<std::string> gpu_volumes(const OciBundle& bundle);

/// Replaces such volumes, if there are any, by one for each of these GPUs (UUIDs). Those below `imex/` stay:
/// they name no GPU. True: there were some.
bool replace_gpu_volumes(OciBundle& bundle, const std::vector<std::string>& gpus);

/// Adds one for each of these GPUs.
void add_gpu_volumes(OciBundle& bundle, const std::vector<std::string>& gpus);

}  // namespace cgpu::runtime
