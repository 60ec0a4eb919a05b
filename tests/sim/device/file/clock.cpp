#include "tests/sim/device/file/clock.hpp"

#include <ctime>

namespace simgpu {

Nanoseconds clock_now() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return Nanoseconds{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace simgpu
