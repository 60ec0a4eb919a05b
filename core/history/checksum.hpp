#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace cgpu::history {

/// CRC-32C (RFC 3720, appendix B.4). It finds every burst of up to 32 wrong bits, and misses one of 2^32 of
/// all other faults.
[[nodiscard]] std::uint32_t checksum(std::span<const std::byte> bytes);
/// The same without the processor's instruction for it, which checksum() uses where there is one.
[[nodiscard]] std::uint32_t checksum_by_tables(std::span<const std::byte> bytes);

}  // namespace cgpu::history
