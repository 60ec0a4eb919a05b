#pragma once

// The implementation names each exported symbol itself.
#define SIMGPU_EXPORTED_NAMES
#include "tests/sim/include/simgpu/cuda.h"
