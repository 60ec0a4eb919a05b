#pragma once

#include <cstdint>

#include "module/front/driver/cuda_abi.hpp"

namespace cgpu::front {

/// The device memory of a CUDA array, in bytes, as the driver's tiles take it, because the driver doesn't
/// report an array's size. Arrays below a granule (2 MiB) count as the part of a granule that no other array
/// of the same size can use. 0 for arrays that get their memory by mapping (sparse and deferred ones).
std::uint64_t array_bytes(const Array3DDescriptor& array);

/// The same for all levels of a mipmapped array.
std::uint64_t mipmap_bytes(const Array3DDescriptor& array, unsigned levels);

}  // namespace cgpu::front
