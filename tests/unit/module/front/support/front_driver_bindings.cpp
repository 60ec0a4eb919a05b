// The driver's multicast objects, its mappings into sparse arrays, its descriptors of address ranges and its
// fabric handles: any range can be bound and exported that isn't empty.
#include <fcntl.h>

#include <cstddef>

#include <utility>

#include "tests/unit/module/front/support/front_driver.hpp"

namespace {

void (*meanwhile)(void*) = nullptr;
void* meanwhile_with = nullptr;

void let_another_thread_run() {
    if (meanwhile != nullptr) std::exchange(meanwhile, nullptr)(meanwhile_with);
}

}  // namespace

/// What another thread does during the next call that binds an address or exports a handle.
extern "C" __attribute__((visibility("default"))) void fake_meanwhile(void (*call)(void*), void* with) {
    meanwhile = call;
    meanwhile_with = with;
}

API cuMulticastBindMem(std::uint64_t, std::size_t, std::uint64_t, std::size_t, std::size_t bytes,
                       unsigned long long) {
    return bytes != 0 ? fake::kSuccess : fake::kInvalidValue;
}
API cuMulticastBindAddr(std::uint64_t, std::size_t, std::uint64_t, std::size_t bytes,
                        unsigned long long flags) {
    let_another_thread_run();
    return bytes != 0 && flags == 0 ? fake::kSuccess : fake::kInvalidValue;
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
/// A fabric handle; no other kind can be exported.
API cuMemExportToShareableHandle(std::uint64_t* shareable, std::uint64_t handle, int type,
                                 unsigned long long) {
    constexpr int kFabric = 8;
    if (type != kFabric) return fake::kInvalidValue;
    *shareable = handle;
    let_another_thread_run();
    return fake::kSuccess;
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
