#pragma once

#include "tests/sim/include/simgpu/cuda.h"
#include "tests/sim/include/simgpu/cuda_graph.h"
#include "tests/sim/include/simgpu/cuda_memory.h"

namespace programs {

/// Makes a green context with half of the device's multiprocessors.
CUgreenCtx make_green(int device);

/// What stands for it as a CUcontext.
CUcontext context_of(CUgreenCtx green);

}  // namespace programs
