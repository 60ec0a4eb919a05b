#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "client/node/values/snapshot.hpp"

namespace cgpu::runtime {

/// Which GPU each device node /dev/nvidiaN is for: the UUIDs of present GPUs, by the minor number N.
using GpuMinors = std::map<std::uint32_t, std::string>;

/// The driver numbers device nodes by itself, not as NVML numbers GPUs, and says so in
/// FOLDER/BUS-ID/information (`GPU UUID:` and `Device Minor:`). Without that folder, which a driver that
/// isn't NVIDIA's kernel module lacks, a GPU's minor number is its index. Present GPUs for which the driver
/// gives none are left out.
[[nodiscard]] GpuMinors read_gpu_minors(const std::vector<client::Gpu>& gpus,
                                        const std::string& folder = "/proc/driver/nvidia/gpus");

}  // namespace cgpu::runtime
