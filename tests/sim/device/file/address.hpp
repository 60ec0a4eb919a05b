#pragma once

#include <cstdint>

namespace simgpu {

/// Returns what is at an address of device memory, which is memory of this process at the same address. The
/// driver's interface passes addresses, and some other pointers, as numbers.
template <typename T = void>
T* at_address(std::uint64_t address) {
    return reinterpret_cast<T*>(address);  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace simgpu
