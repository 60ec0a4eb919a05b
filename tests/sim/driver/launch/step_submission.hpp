#pragma once

#include "tests/sim/driver/graph/step.hpp"

namespace simgpu {

struct Stream;

/// Puts what the step does into the stream, for a graph that is launched. Children are no single step.
/// @param own_priority a kernel's priority is its node's, not the stream's.
CUresult submit_step(Stream& stream, const Step& step, bool own_priority);

}  // namespace simgpu
