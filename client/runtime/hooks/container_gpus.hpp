#pragma once

#include <string>

#include "client/runtime/oci/gpu_devices.hpp"

/// What of NVIDIA's GPUs is in a container, after hooks have brought in what no bundle says: in its mode
/// legacy, NVIDIA's toolkit decides in a hook of the stage prestart, which mounts device nodes into the
/// container.
namespace cgpu::runtime {

/// The nodes of GPUs below the container's /dev, the mounts of such nodes anywhere in it, and mounts of the
/// driver. A /dev that is the host's own counts only by mounts: the device cgroup decides there. `process` is
/// /proc/PID of a process in the container's mount namespace whose root is still the host's, `root` the
/// container's root as a path there. Rules are not included. Error (failed): it can't be looked at.
[[nodiscard]] Result<GpuAccess> gpus_in_container(const std::string& process, const std::string& root);

/// Of a mount's path, if it is below `root`: the rest of the path; else empty.
[[nodiscard]] std::string mount_below(const std::string& path, const std::string& root);

}  // namespace cgpu::runtime
