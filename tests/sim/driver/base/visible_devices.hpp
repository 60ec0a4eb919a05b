#pragma once

#include <cstdint>
#include <vector>

#include "tests/sim/device/layout/card.hpp"

namespace simgpu {

/// Reads CUDA_VISIBLE_DEVICES: indices or UUIDs (or the beginnings of UUIDs), in any order; what follows the
/// first entry that names no GPU doesn't count; a GPU named twice makes all invisible.
/// @param variable nullptr: not set, all GPUs are visible.
std::vector<std::uint32_t> visible_devices(const char* variable, const Card* cards, std::uint32_t count);

}  // namespace simgpu
