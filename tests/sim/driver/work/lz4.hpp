#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace simgpu {

/// Decompresses a block of LZ4 (lz4_Block_format.md of the LZ4 project). @return nothing if the block is
/// corrupt, or its content is longer than `most` bytes.
std::optional<std::vector<std::uint8_t>> decompress_lz4(std::span<const std::uint8_t> block,
                                                        std::size_t most);

}  // namespace simgpu
