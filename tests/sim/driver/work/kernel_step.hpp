#pragma once

#include "tests/sim/driver/graph/step.hpp"

namespace simgpu {

class Context;

/// Reads a launch's parameters as they are now.
CUresult make_kernel_step(CUfunction function, const Shape& shape, unsigned int shared_bytes,
                          void** parameters, void** extra, KernelStep& step);
/// Whether a cooperative grid fits on the GPU at once.
bool fits_at_once(const Context& context, const Shape& shape);

}  // namespace simgpu
