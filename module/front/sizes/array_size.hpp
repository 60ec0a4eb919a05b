#pragma once

#include <cstdint>

#include "module/front/driver/cuda_abi.hpp"

namespace cgpu::front {

/// Device memory that a CUDA array takes at most, in bytes: rows padded to 128 bytes, the whole to 64 KiB. An
/// upper bound for what the driver is known to pad, since it doesn't tell an array's size; 0 for arrays that
/// get their memory by mapping (sparse and deferred ones).
std::uint64_t array_bytes(const Array3DDescriptor& array);

/// The same for all levels of a mipmapped array.
std::uint64_t mipmap_bytes(const Array3DDescriptor& array, unsigned levels);

}  // namespace cgpu::front
