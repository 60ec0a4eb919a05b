#pragma once

#include <string>
#include <vector>

#include "core/model/gpu.hpp"
#include "daemon/config/entry.hpp"

namespace cgpu::config {

/// Where the value of a key was written: the last of the entries with this path. `built in` if none has it.
[[nodiscard]] std::string origin_of(const std::vector<Entry>& entries, const std::vector<std::string>& path);

/// The same for a setting of a GPU (GpuKey): its own by UUID, else by index, else that of all GPUs.
[[nodiscard]] std::string origin_of(const std::vector<Entry>& entries, const model::SeenGpu& gpu,
                                    const std::string& key);

}  // namespace cgpu::config
