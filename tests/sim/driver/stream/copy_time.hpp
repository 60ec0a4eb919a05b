#pragma once

#include <optional>

#include "tests/sim/device/layout/card.hpp"
#include "tests/sim/driver/stream/operation.hpp"

namespace simgpu {

/// Copies and memsets of fewer bytes take no time; only their order in the stream counts.
constexpr std::uint64_t kTimedFrom = 64U << 10;
/// Between host and device, and between devices: what a PCIe 3.0 x16 link achieves in practice. It is a
/// guess.
constexpr std::uint64_t kLinkBytesPerSecond = 12'000'000'000;

/// Bytes per second of the card's memory, from its clock and bus (two transfers a clock).
std::uint64_t memory_bytes_per_second(const Card& card);

/// Where the two ends of a copy are; nothing: in host memory.
struct CopyRoute {
    std::optional<std::uint32_t> to_gpu;
    std::optional<std::uint32_t> from_gpu;
};

/// Sets where a copy runs and how long. Within a GPU it is a kernel that reads and writes memory. Between a
/// GPU and other memory it takes a copy engine. Within host memory it takes no time.
void time_copy(Operation& operation, const CopyRoute& route, const Card& card, std::uint64_t bytes);

/// A memset is a kernel that writes memory.
void time_set(Operation& operation, const Card& card, std::uint64_t bytes);

}  // namespace simgpu
