#pragma once

#include "tests/sim/device/layout/card.hpp"

namespace simgpu {

/// Value of a CUdevice_attribute; 0 for those that the simulated GPUs don't have.
int device_attribute(const Card& card, int attribute);

}  // namespace simgpu
