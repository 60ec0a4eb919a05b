#pragma once

#include "tests/sim/driver/graph/step.hpp"

namespace simgpu {

struct Stream;

/// Submits the step to the stream, for a graph that is launched. Children are not a single step.
/// @param own_priority a kernel's priority is that of its node, not of the stream.
CUresult submit_step(Stream& stream, const Step& step, bool own_priority);

}  // namespace simgpu
