#pragma once

#include <cstdint>

#include "module/front/driver/cuda_abi.hpp"

namespace cgpu::front {

/// Sets bytes of the lease aside, asking the daemon for what lacks, and in need taking what the process's
/// pools keep for later and waiting for pool memory that is on its way back. kSuccess or kOutOfMemory.
/// `until_ns`: when the daemon has to have answered.
std::int64_t ask_deadline();
CUresult reserve(int gpu, std::uint64_t bytes, std::int64_t until_ns = ask_deadline());

/// kOutOfMemory, for an allocation of so many bytes that the program asked for: the daemon is told, which
/// counts it and says it in its log. Once for each, after all that was tried for it; reserve() has done it
/// itself.
CUresult refuse(int gpu, std::uint64_t bytes);

/// The steps of that: without the pools; a lease of so many bytes more.
bool try_reserve(int gpu, std::uint64_t bytes, std::int64_t until_ns);
bool ask_for(int gpu, std::uint64_t bytes, std::int64_t until_ns);

}  // namespace cgpu::front
