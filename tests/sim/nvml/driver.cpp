#include "tests/sim/nvml/driver.hpp"

namespace simgpu {

constinit const NvmlDriver kNvmlDriver{SIMGPU_DRIVER_VERSION, SIMGPU_CUDA_VERSION};

}  // namespace simgpu
