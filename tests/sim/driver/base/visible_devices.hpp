#pragma once

#include <cstdint>
#include <vector>

#include "tests/sim/device/layout/card.hpp"

namespace simgpu {

/// Reads CUDA_VISIBLE_DEVICES: indices or UUIDs (or prefixes of UUIDs), in any order. Entries after the first
/// one that names no GPU do not count; a GPU that is named twice makes all of them invisible.
/// @param variable nullptr: not set, all GPUs are visible.
std::vector<std::uint32_t> visible_devices(const char* variable, const Card* cards, std::uint32_t count);

}  // namespace simgpu
