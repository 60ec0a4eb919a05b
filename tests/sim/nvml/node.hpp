#pragma once

#include <memory>

#include "tests/sim/device/file/device.hpp"
#include "tests/sim/include/simgpu/nvml.h"

namespace simgpu {

/// The device as NVML in this process sees it, between nvmlInit and the matching nvmlShutdown.
class Node {
  public:
    static nvmlReturn_t initialize();
    static nvmlReturn_t shut_down();
    /// @return nullptr while NVML is not initialised.
    static std::shared_ptr<Device> device();
};

/// A device handle is the GPU's index + 1.
nvmlDevice_t handle_of(std::uint32_t gpu);

/// @return the result of the call if NVML is not initialised or there is no such GPU.
nvmlReturn_t find_gpu(nvmlDevice_t handle, std::shared_ptr<Device>& device, std::uint32_t& gpu);

/// Copies a text into a caller's buffer. @return NVML_ERROR_INSUFFICIENT_SIZE if it doesn't fit.
nvmlReturn_t copy_text(const std::string& text, char* to, unsigned int length);

}  // namespace simgpu
