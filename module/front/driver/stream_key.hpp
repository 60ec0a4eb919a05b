#pragma once

#include <cstdint>

#include "module/front/driver/cuda_abi.hpp"

namespace cgpu::front {

namespace detail {
/// Its address distinguishes the threads' own default streams.
extern thread_local constinit char thread_mark __attribute__((tls_model("initial-exec")));
}  // namespace detail

/// A stream as the driver's _ptsz variants take it, converted for the plain ones.
inline CUstream per_thread(CUstream stream) { return stream == nullptr ? stream_per_thread() : stream; }

/// The engine's key of a stream; a per-thread stream has another key in each thread.
inline std::uint64_t stream_key(CUstream stream) {
    if (stream == stream_per_thread()) return reinterpret_cast<std::uintptr_t>(&detail::thread_mark);
    return stream == nullptr ? 1 : reinterpret_cast<std::uintptr_t>(stream);
}

}  // namespace cgpu::front
