#pragma once

#include <cstdint>

namespace cgpu::front {

/// Memory that the daemon has set aside.
struct SetAsideMemory {
    int gpu = -1;             ///< of the instance; below 0: of none
    std::uint64_t bytes = 0;  ///< as granted; 0: nothing
    bool announced = false;   ///< the daemon waits to hear whether the thing was made
};

}  // namespace cgpu::front
