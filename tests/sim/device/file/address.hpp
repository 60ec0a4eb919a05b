#pragma once

#include <cstdint>

namespace simgpu {

/// What lies at an address of device memory, which is memory of this process at the same address. The
/// driver's interface gives addresses, and what else doesn't fit it, as numbers.
template <typename T = void>
T* at_address(std::uint64_t address) {
    return reinterpret_cast<T*>(address);  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace simgpu
