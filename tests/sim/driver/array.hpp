#pragma once

#include "tests/sim/driver/abi.hpp"
#include "tests/sim/driver/tagged.hpp"

namespace simgpu {

class Context;

/// A CUDA array: rows padded to 128 bytes, the whole rounded to 64 KiB, in device memory.
struct Array : Tagged<0x7961727261ULL> {
    CUDA_ARRAY3D_DESCRIPTOR descriptor{};
    Context* context = nullptr;
    std::uint64_t address = 0;
    std::size_t pitch = 0;  ///< Bytes from one row to the next.
};

}  // namespace simgpu
