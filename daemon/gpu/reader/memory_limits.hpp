#pragma once

#include <optional>
#include <string>

#include "daemon/app/ports/examination.hpp"

/// Whether NVIDIA's driver can limit memory by cgroup itself, as drivers from 615 on do. The rules are those
/// of NVIDIA's documentation of memory partitioning (MPS v3) and of NVML; none was tried on a GPU.
namespace cgpu::gpu {

/// What the host says.
struct LimitHost {
    /// The controllers of the root of the cgroups; empty: there is no version 2 at /sys/fs/cgroup, where the
    /// driver looks for it.
    std::optional<std::string> controllers;
    std::string registry;    ///< the driver's RegistryDwords: `key=value;…`
    std::string own_cgroup;  ///< the folder of this process's one
};
[[nodiscard]] LimitHost read_limit_host();

/// What the driver answers for one GPU.
struct LimitAnswer {
    bool has_function = false;  ///< nvmlDeviceGetMemoryLimits_v1
    bool mig = false;
    std::optional<int> code;      ///< the function's, for the process's own cgroup; empty: it wasn't called
    std::string text;             ///< NVML's of that code
    unsigned long long hard = 0;  ///< bytes, if the call succeeded
};

[[nodiscard]] app::DriverLimits judge_limits(const LimitHost& host, const LimitAnswer& answer);

/// The RegistryDwords in the text of /proc/driver/nvidia/params; empty: none.
[[nodiscard]] std::string registry_in(const std::string& params);
/// The folder of the cgroup that /proc/self/cgroup names; the root's, if there is none of version 2, or it is
/// not below the root that this process sees.
[[nodiscard]] std::string cgroup_in(const std::string& text);

}  // namespace cgpu::gpu
