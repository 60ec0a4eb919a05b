// The driver's multicast objects, its mappings into sparse arrays, and its descriptors of address ranges: any
// range can be bound and exported that isn't empty.
#include <fcntl.h>

#include <cstddef>

#include "tests/unit/module/front/support/front_driver.hpp"

API cuMulticastBindMem(std::uint64_t, std::size_t, std::uint64_t, std::size_t, std::size_t bytes,
                       unsigned long long) {
    return bytes != 0 ? fake::kSuccess : fake::kInvalidValue;
}
API cuMulticastBindAddr(std::uint64_t, std::size_t, std::uint64_t, std::size_t bytes, unsigned long long) {
    return bytes != 0 ? fake::kSuccess : fake::kInvalidValue;
}
API cuMulticastBindAddr_v2(std::uint64_t, int, std::size_t, std::uint64_t, std::size_t bytes,
                           unsigned long long) {
    return bytes != 0 ? fake::kSuccess : fake::kInvalidValue;
}
API cuMulticastBindMem_v2(std::uint64_t, int, std::size_t, std::uint64_t, std::size_t, std::size_t bytes,
                          unsigned long long) {
    return bytes != 0 ? fake::kSuccess : fake::kInvalidValue;
}
API cuMulticastUnbind(std::uint64_t, int, std::size_t, std::size_t bytes) {
    return bytes != 0 ? fake::kSuccess : fake::kInvalidValue;
}
/// A stream that no array can be mapped in.
API cuMemMapArrayAsync(void*, unsigned, void* stream) {
    return stream == nullptr ? fake::kSuccess : fake::kInvalidValue;
}
API cuMemMapArrayAsync_ptsz(void* list, unsigned count, void* stream) {
    return cuMemMapArrayAsync(list, count, stream);
}
/// As on old kernels, all descriptors refer to one file.
API cuMemGetHandleForAddressRange(int* descriptor, std::uint64_t, std::size_t bytes, int,
                                  unsigned long long) {
    if (bytes == 0) return fake::kInvalidValue;
    *descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC);
    return fake::kSuccess;
}
