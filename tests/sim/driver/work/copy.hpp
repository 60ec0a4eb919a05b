#pragma once

#include "tests/sim/driver/base/abi.hpp"
#include "tests/sim/driver/graph/transfer.hpp"

namespace simgpu {

struct Stream;

/// Submits the copy to the stream, or adds it to what the stream captures. Memory of the program that the
/// driver doesn't know is read before the call returns, and written before it returns, as CUDA does with
/// pageable memory.
CUresult submit_copy(Stream& stream, const Transfer& transfer, Completion completion);

/// Likewise for a memset.
CUresult submit_set(Stream& stream, const Fill& fill, Completion completion);

/// Waits for the operation, then reports an error of the context.
CUresult wait_for(Stream& stream, std::uint64_t sequence);

}  // namespace simgpu
