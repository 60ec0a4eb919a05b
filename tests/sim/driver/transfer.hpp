#pragma once

#include <cstddef>
#include <cstdint>

#include "tests/sim/driver/abi.hpp"
#include "tests/sim/driver/context.hpp"

namespace simgpu {

/// Rows of bytes from one place to another; a plain copy has one row.
struct Transfer {
    std::uint64_t to;
    std::uint64_t from;
    std::size_t width;
    std::size_t rows = 1;
    std::size_t to_pitch = 0;
    std::size_t from_pitch = 0;
};

enum class Completion { wait, in_stream_order };

/// Submits the copy to the stream. Memory of the program that the driver doesn't know is read before the call
/// returns, and written before it returns, as CUDA does with pageable memory.
CUresult submit_copy(Stream& stream, const Transfer& transfer, Completion completion);

/// Submits rows of `count` elements of `element_bytes` (1, 2 or 4) to be set to `value`.
CUresult submit_set(Stream& stream, std::uint64_t to, std::size_t pitch, std::uint32_t value,
                    std::size_t element_bytes, std::size_t count, std::size_t rows, Completion completion);

/// Waits for the operation, then reports what the context ran into.
CUresult wait_for(Stream& stream, std::uint64_t sequence);

}  // namespace simgpu
