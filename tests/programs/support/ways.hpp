#pragma once

#include <string>
#include <vector>

#include "tests/sim/include/simgpu/cuda.h"

namespace programs {

/// Returns the names of all ways of allocating device memory that allocate() knows.
std::vector<std::string> ways();

/// Allocates so many bytes (a multiple of 64 KiB) of the current context's device in that way, and keeps
/// them.
CUresult allocate(const std::string& way, int device, std::size_t bytes);

}  // namespace programs
