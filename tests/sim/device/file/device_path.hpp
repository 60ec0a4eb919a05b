#pragma once

#include <string>

namespace simgpu {

/// SIMGPU_DEVICE, or /dev/simgpu.
std::string device_path();

}  // namespace simgpu
