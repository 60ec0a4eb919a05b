#pragma once

#include <atomic>

#include "module/front/driver/cuda_abi.hpp"

namespace cgpu::front {

/// The number of streams being captured; only while there are any, the driver is asked about a stream.
inline constinit std::atomic<int> captures_under_way{0};

inline bool captures_active() { return captures_under_way.load(std::memory_order_relaxed) > 0; }

/// Whether a call on this stream goes into a graph instead of to the GPU (or would break a capture). `stream`
/// as the driver's plain functions take it.
bool is_capturing(CUstream stream);

}  // namespace cgpu::front
