#pragma once

#include <cstdint>

#include "tests/sim/include/simgpu/cuda.h"

namespace programs::fire {

enum class Way { plain, pitch, array, async, pool, mapped };
constexpr Way kWays[] = {Way::plain, Way::pitch, Way::array, Way::async, Way::pool, Way::mapped};

const char* name_of(Way way);

/// Returns the nearest size, not smaller than `bytes`, that this way can allocate: the ways differ in that.
std::uint64_t size_for(Way way, std::uint64_t bytes);

/// Returns the most that an allocation of so many bytes may take of a GPU: whole blocks of 2 MiB.
std::uint64_t cost_of(std::uint64_t bytes);

/// Device memory that was allocated in one of the ways.
struct Holding {
    Way way = Way::plain;
    std::uint64_t bytes = 0;
    CUdeviceptr address = 0;
    CUarray array = nullptr;  ///< instead of an address
};

/// What an allocation of the calling thread needs besides the current context.
struct Place {
    int device = 0;
    CUstream stream = nullptr;
    CUmemoryPool pool = nullptr;
};

/// `bytes` must be as size_for() returns it.
CUresult get(const Place& place, Way way, std::uint64_t bytes, Holding& holding);
CUresult give_back(const Place& place, const Holding& holding);

}  // namespace programs::fire
