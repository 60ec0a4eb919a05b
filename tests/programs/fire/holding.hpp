#pragma once

#include <cstdint>

#include "tests/sim/include/simgpu/cuda.h"

namespace programs::fire {

enum class Way { plain, pitch, array, async, pool, mapped };
constexpr Way kWays[] = {Way::plain, Way::pitch, Way::array, Way::async, Way::pool, Way::mapped};

const char* name_of(Way way);

/// The sizes that a way can give differ: the nearest one that is not smaller.
std::uint64_t size_for(Way way, std::uint64_t bytes);

/// The most that getting so many bytes may take of a GPU: whole blocks of 2 MiB.
std::uint64_t cost_of(std::uint64_t bytes);

/// Device memory that was got in one way or another.
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

/// `bytes` as size_for() gives it.
CUresult get(const Place& place, Way way, std::uint64_t bytes, Holding& holding);
CUresult give_back(const Place& place, const Holding& holding);

}  // namespace programs::fire
