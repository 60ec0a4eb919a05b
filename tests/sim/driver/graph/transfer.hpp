#pragma once

#include <cstddef>
#include <cstdint>

namespace simgpu {

/// Rows of bytes from one place to another; a plain copy has one row, a 3D one layers of rows.
struct Transfer {
    std::uint64_t to;
    std::uint64_t from;
    std::size_t width;
    std::size_t rows = 1;
    std::size_t to_pitch = 0;
    std::size_t from_pitch = 0;
    std::size_t layers = 1;
    std::size_t to_layer = 0;    ///< Bytes from one layer to the next.
    std::size_t from_layer = 0;  ///< Likewise.

    std::size_t bytes() const { return width * rows * layers; }
};

/// Rows of `count` elements of `element_bytes` (1, 2 or 4) that are set to a value.
struct Fill {
    std::uint64_t to;
    std::size_t pitch;
    std::uint32_t value;
    std::size_t element_bytes;
    std::size_t count;
    std::size_t rows;

    std::size_t bytes() const { return count * element_bytes * rows; }
};

enum class Completion {
    wait,             ///< The call returns when it is done.
    in_stream_order,  ///< The program's own memory is read before the call returns, or written.
    in_graph_order,   ///< All memory is read and written when its turn comes.
};

}  // namespace simgpu
