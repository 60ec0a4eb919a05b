#pragma once

#include <cstdint>

#include "module/front/driver/cuda_abi.hpp"

namespace cgpu::front {

/// The maximum device memory of a CUDA array, in bytes: rows padded to 128 bytes, the whole to 64 KiB. This
/// is an upper bound for the padding that the driver is known to use, because it doesn't report an array's
/// size; 0 for arrays that get their memory by mapping (sparse and deferred ones).
std::uint64_t array_bytes(const Array3DDescriptor& array);

/// The same for all levels of a mipmapped array.
std::uint64_t mipmap_bytes(const Array3DDescriptor& array, unsigned levels);

}  // namespace cgpu::front
