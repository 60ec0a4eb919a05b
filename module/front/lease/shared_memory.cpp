#include "module/front/lease/shared_memory.hpp"

#include "module/front/driver/real_driver.hpp"
#include "module/front/session/session.hpp"

namespace cgpu::front {

namespace real {
CGPU_REAL(cuMemGetAddressRange_v2, CUdeviceptr*, std::size_t*, CUdeviceptr)
}  // namespace real

namespace {

constinit SharedMemory the_shared_memory;

}  // namespace

SharedMemory& shared_memory() { return the_shared_memory; }

void SharedMemory::opened(int gpu, std::uint64_t bytes) {
    if (!session().isolates(gpu) || bytes == 0) return;
    const auto index = static_cast<std::uint32_t>(gpu);
    session().link().tell(wire::Topic::shared, index, bytes_[index].fetch_add(bytes) + bytes);
}

void SharedMemory::opened_at(std::uint64_t address) {
    CUdevice device = 0;
    CUdeviceptr begin = 0;
    std::size_t bytes = 0;
    if (real::cuCtxGetDevice(&device) != kSuccess) return;
    if (real::cuMemGetAddressRange_v2(&begin, &bytes, address) != kSuccess) return;
    opened(session().gpu_of(device), bytes);
}

void SharedMemory::tell_again() {
    for (std::uint32_t gpu = 0; gpu < session().gpu_count(); ++gpu)
        if (const auto bytes = bytes_[gpu].load(); bytes != 0)
            session().link().tell(wire::Topic::shared, gpu, bytes);
}

void SharedMemory::reset_in_child() {
    for (auto& bytes : bytes_) bytes.store(0);
    imports_.store(false);
}

}  // namespace cgpu::front
