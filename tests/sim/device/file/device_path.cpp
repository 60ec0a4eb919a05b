#include "tests/sim/device/file/device_path.hpp"

#include <cstdlib>

namespace simgpu {

std::string device_path() {
    const char* path = std::getenv("SIMGPU_DEVICE");
    return path && *path ? path : "/dev/simgpu";
}

}  // namespace simgpu
