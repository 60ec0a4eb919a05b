#include "tests/sim/driver/mapping/address_space.hpp"

#include <sys/mman.h>

#include "tests/sim/device/file/address.hpp"
#include "tests/sim/model/block_heap.hpp"

namespace simgpu {

std::uint64_t map_device_memory(std::uint64_t bytes) {
    void* at = mmap(nullptr, bytes + kBlock, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) return 0;
    const auto begin = reinterpret_cast<std::uint64_t>(at);
    const std::uint64_t base = round_up(begin, kBlock);
    if (base > begin) munmap(at, base - begin);
    const std::uint64_t rest = begin + kBlock - base;
    if (rest > 0) munmap(at_address(base + bytes), rest);
    return base;
}

void unmap_device_memory(std::uint64_t base, std::uint64_t bytes) { munmap(at_address(base), bytes); }

}  // namespace simgpu
