#pragma once

#include <cstdint>

#include "module/front/driver/cuda_abi.hpp"

namespace cgpu::front {

/// Reserves bytes of the lease. Asks the daemon for missing bytes; if memory is short, also trims the
/// process's pools and waits for pool memory that is being freed. kSuccess or kOutOfMemory. `until_ns`: the
/// deadline for the daemon's answer.
std::int64_t ask_deadline();
CUresult reserve(int gpu, std::uint64_t bytes, std::int64_t until_ns = ask_deadline());

/// Returns kOutOfMemory for an allocation of this many bytes that the program asked for: reports it to the
/// daemon, which counts and logs it. Call it once for each, after all attempts; reserve() calls it itself.
CUresult refuse(int gpu, std::uint64_t bytes);

/// The steps of reserve(): without the pools; a lease of this many bytes more (whole granules, as the engine
/// says what it lacks).
bool try_reserve(int gpu, std::uint64_t bytes, std::int64_t until_ns);
bool ask_for(int gpu, std::uint64_t bytes, std::int64_t until_ns);

}  // namespace cgpu::front
