#include "module/front/sizes/resident_threads.hpp"

#include "module/front/driver/real_driver.hpp"
#include "module/front/session/session.hpp"

namespace cgpu::front {

namespace real {
CGPU_REAL(cuDeviceGetAttribute, int*, int, CUdevice)
}  // namespace real

namespace {

std::uint64_t attribute(int gpu, int which) {
    int value = 0;
    const CUdevice device = session().device_of(static_cast<std::uint32_t>(gpu));
    return real::cuDeviceGetAttribute(&value, which, device) == kSuccess && value > 0
               ? static_cast<std::uint64_t>(value)
               : 1;
}

}  // namespace

std::uint64_t resident_threads(int gpu) {
    return attribute(gpu, kAttributeMultiprocessors) * attribute(gpu, kAttributeThreadsOfMultiprocessor);
}

}  // namespace cgpu::front
