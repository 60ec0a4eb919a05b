#pragma once

#include "tests/sim/model/limits.hpp"

namespace simgpu {

/// Nanoseconds of CLOCK_MONOTONIC: the time of all GPUs.
Nanoseconds clock_now();

}  // namespace simgpu
