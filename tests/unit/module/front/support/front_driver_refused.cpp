// Functions that the front refuses where memory is isolated. The driver itself takes every call.
#include <cstddef>

#include "module/front/driver/cuda_abi.hpp"
#include "tests/unit/module/front/support/front_driver.hpp"

using fake::kSuccess;

API cuCheckpointProcessCheckpoint(int, void*) { return kSuccess; }
API cuCheckpointProcessRestore(int, void*) { return kSuccess; }
API cuMemPrefetchAsync(std::uint64_t, std::size_t, int, void*) { return kSuccess; }
API cuMemPrefetchAsync_v2(std::uint64_t, std::size_t, cgpu::front::CUmemLocation, unsigned, void*) {
    return kSuccess;
}
API cuMemPrefetchBatchAsync(std::uint64_t*, std::size_t*, std::size_t, void*, std::size_t*, std::size_t,
                            unsigned long long, void*) {
    return kSuccess;
}
API cuMemDiscardAndPrefetchBatchAsync(std::uint64_t*, std::size_t*, std::size_t, void*, std::size_t*,
                                      std::size_t, unsigned long long, void*) {
    return kSuccess;
}
API cuLogicalEndpointBindMem(unsigned, int, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
                             unsigned long long) {
    return kSuccess;
}
API cuLogicalEndpointBindAddr(unsigned, int, std::uint64_t, void*, std::uint64_t, unsigned long long) {
    return kSuccess;
}
API cuStreamBeginCaptureToCig(void*, void*) { return kSuccess; }
