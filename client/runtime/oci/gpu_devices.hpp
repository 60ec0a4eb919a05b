#pragma once

#include <cstdint>
#include <vector>

#include "client/runtime/oci/oci_bundle.hpp"

/// Device nodes of GPUs in a container's config.json. An engine that applies CDI (Docker from 25 on, Podman,
/// containerd) writes them there before it calls the runtime, and so does `--device /dev/nvidia1`.
namespace cgpu::runtime {

/// The minor numbers of the GPUs whose device nodes the container gets, ascending: those of `linux.devices`,
/// and those that are mounted from the host's /dev, as engines without root do.
[[nodiscard]] std::vector<std::uint32_t> gpu_devices(const OciBundle& bundle);

/// Takes out device nodes, mounts of them, and rules of the device cgroup of all GPUs but those of the minor
/// numbers in `kept`. A rule for all devices of the major number of NVIDIA is replaced with one for each of
/// these and for the control devices. Nodes of control devices (nvidiactl, nvidia-uvm) stay, and so does a
/// rule for all devices of the machine, which a privileged container has. True: something was changed.
bool keep_gpu_devices(OciBundle& bundle, const std::vector<std::uint32_t>& kept);

}  // namespace cgpu::runtime
