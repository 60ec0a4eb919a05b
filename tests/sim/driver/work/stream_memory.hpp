#pragma once

#include "tests/sim/driver/base/abi.hpp"
#include "tests/sim/driver/context/context.hpp"

namespace simgpu {

/// Whether the operation of cuStreamBatchMemOp can be done: a known kind, at an aligned address in memory
/// that the driver knows.
CUresult check_memory_operation(const Context& context, const CUstreamBatchMemOpParams& operation);

/// Submits a checked operation to the stream. Barriers and flushes have no effect here.
CUresult submit_memory_operation(Stream& stream, const CUstreamBatchMemOpParams& operation);

}  // namespace simgpu
