#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "client/runtime/oci/oci_bundle.hpp"

/// What of NVIDIA's GPUs a container's config.json opens to it: device nodes, mounts of device nodes, and
/// rules of the device cgroup. An engine that applies CDI (Docker from 25 on, Podman, containerd) writes them
/// there before it calls the runtime, and so do `--device /dev/nvidia1` and, later, NVIDIA's runtime.
namespace cgpu::runtime {

/// The GPU (its minor number) of a character device with these numbers; null: it is none of NVIDIA's GPUs,
/// such as nvidiactl.
[[nodiscard]] std::optional<std::uint32_t> gpu_of_numbers(std::int64_t major, std::int64_t minor);

struct DeviceNumbers {
    std::int64_t major = 0;
    std::int64_t minor = 0;
};
/// The numbers of the character device at a path of the host, links followed; null: there is none.
using DeviceAt = std::function<std::optional<DeviceNumbers>(const std::string&)>;
[[nodiscard]] std::optional<DeviceNumbers> character_device_at(const std::string& path);

/// GPUs by their minor numbers.
struct GpuAccess {
    std::set<std::uint32_t> nodes;  ///< it has their nodes, by `linux.devices` or by a mount
    std::set<std::uint32_t> rules;  ///< its device cgroup lets it open them
    bool all_by_rule = false;       ///< its device cgroup lets it open all GPUs
    bool control = false;           ///< it has a node of NVIDIA's that is no GPU, such as nvidiactl
    bool driver = false;            ///< a libcuda is mounted into it

    /// Nodes and rules together; all_by_rule is not included.
    [[nodiscard]] std::set<std::uint32_t> gpus() const;
    /// The driver without any device node of NVIDIA's: the GPUs come by other devices (WSL, Tegra).
    [[nodiscard]] bool driver_alone() const { return driver && !control && nodes.empty(); }
    [[nodiscard]] bool any() const { return all_by_rule || !gpus().empty() || driver_alone(); }
};

/// Nodes and mounts count by their numbers, and a mount also by a source /dev/nvidiaN. A rule counts if it
/// lets the device be read or written; the last rule that matches decides, as in runc.
[[nodiscard]] GpuAccess gpu_access(const OciBundle& bundle, const DeviceAt& device_at = character_device_at);

/// The minor numbers of the GPUs whose device nodes the container gets, ascending: those of `linux.devices`,
/// and those that are mounted from the host's /dev, as engines without root do.
[[nodiscard]] std::vector<std::uint32_t> gpu_devices(const OciBundle& bundle,
                                                     const DeviceAt& device_at = character_device_at);

/// Takes out device nodes, mounts of them, and rules of the device cgroup of all GPUs but those of the minor
/// numbers in `kept`. A rule for all devices of the major number of NVIDIA is replaced with one for each of
/// these and for the control devices. Nodes of control devices (nvidiactl, nvidia-uvm) stay, and so does a
/// rule for all devices of the machine, which a privileged container has. True: something was changed.
bool keep_gpu_devices(OciBundle& bundle, const std::vector<std::uint32_t>& kept,
                      const DeviceAt& device_at = character_device_at);

/// Whether it has CAP_SYS_ADMIN, by which a process can change its own device cgroup.
[[nodiscard]] bool is_privileged(const OciBundle& bundle);

/// The same, for a container to which these GPUs were granted and no others. Error (refused): a rule that
/// can't be narrowed opens others to a container that isn't privileged.
[[nodiscard]] Result<void> keep_granted_gpus(OciBundle& bundle, const std::vector<std::uint32_t>& granted,
                                             const DeviceAt& device_at = character_device_at);

}  // namespace cgpu::runtime
