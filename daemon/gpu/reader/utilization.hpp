#pragma once

#include <vector>

#include <tl/expected.hpp>

#include "daemon/app/witness/sources.hpp"
#include "daemon/gpu/reader/nvml_library.hpp"

namespace cgpu::gpu {

/// NVML's samples of how much processes use the device, after that moment (microseconds of the driver's
/// clock; 0: all that it has). Empty if there are none. Error: NVML's code; kNvmlNotSupported if neither of
/// its functions is there.
[[nodiscard]] tl::expected<std::vector<app::UtilizationSample>, int> read_utilization(const NvmlLibrary& nvml,
                                                                                      NvmlDevice device,
                                                                                      std::uint64_t after_us);

}  // namespace cgpu::gpu
