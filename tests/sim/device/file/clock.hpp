#pragma once

#include "tests/sim/model/limits.hpp"

namespace simgpu {

/// Nanoseconds of the host's CLOCK_MONOTONIC: the time of all GPUs. As a real GPU's clock it isn't changed by
/// what the program is given in the place of its own, by a library that replaces libc's functions or by a
/// time namespace.
Nanoseconds clock_now();

/// Sleeps until then, or until a signal comes.
void clock_sleep_until(Nanoseconds due);

}  // namespace simgpu
