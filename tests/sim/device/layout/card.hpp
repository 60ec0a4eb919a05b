#pragma once

#include <array>
#include <cstdint>

#include "tests/sim/model/limits.hpp"

namespace simgpu {

/// One simulated GPU as it was described when the device was made. It is plain data in the shared file.
struct Card {
    char name[64];
    std::array<std::uint8_t, 16> uuid;
    std::uint64_t memory_bytes;    ///< What programs can allocate, all together.
    std::uint64_t reserved_bytes;  ///< What the driver keeps for itself on top of that.
    std::uint64_t context_bytes;   ///< What one context costs.
    Nanoseconds slice;
    Nanoseconds switch_cost;
    Nanoseconds launch_call;  ///< What a launch of a kernel takes the host until the GPU has it.
    std::int32_t sm_count;
    std::int32_t cc_major;
    std::int32_t cc_minor;
    std::int32_t clock_mhz;
    std::int32_t memory_clock_mhz;
    std::int32_t memory_bus_bits;
    std::int32_t power_limit_watts;
    std::uint32_t pci_domain;
    std::uint32_t pci_bus;
    std::uint32_t pci_device;
    std::uint32_t pci_id;  ///< device << 16 | vendor
};

}  // namespace simgpu
