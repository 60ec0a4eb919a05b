#pragma once

#include <bitset>
#include <cstdint>

#include "tests/sim/model/limits.hpp"

namespace simgpu {

constexpr std::uint32_t kMaxSegments = 16384;
constexpr std::uint32_t kNobody = kMaxProcesses;  ///< Charged to no process.
constexpr std::uint32_t kHostMemory = kMaxGpus;   ///< On no GPU: charged nowhere.

/// Memory that more than one process can hold. Its bytes are in the data area of the shared file. It exists
/// while a process holds it or a descriptor of it is open anywhere. It is charged to one process (`owner`),
/// or to none while only descriptors are left.
struct Segment {
    std::uint64_t serial;  ///< Never used twice; 0: this entry is free.
    std::uint64_t offset;  ///< Of its bytes in the shared file.
    std::uint64_t bytes;   ///< Whole blocks.
    std::uint32_t gpu;
    std::uint32_t owner;
    std::uint32_t exported;  ///< Descriptors of it have been given out.
    std::bitset<kMaxProcesses> holders;
};

/// Names a segment to another process.
struct SegmentName {
    std::uint32_t index;
    std::uint64_t serial;
};

}  // namespace simgpu
