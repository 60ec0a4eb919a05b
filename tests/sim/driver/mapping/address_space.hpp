#pragma once

#include <cstdint>

namespace simgpu {

/// Address space for device memory: 2 MiB aligned, costs nothing until it is touched. @return 0 if there is
/// none.
std::uint64_t map_device_memory(std::uint64_t bytes);
void unmap_device_memory(std::uint64_t base, std::uint64_t bytes);

}  // namespace simgpu
