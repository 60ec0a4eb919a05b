#pragma once

#include <optional>

#include "tests/sim/device/layout/segment.hpp"

namespace simgpu {

class Process;

/// What a file descriptor that a process was given stands for. Such a descriptor is one of the device file:
/// it stands at a place that says what it means, and one of a segment holds a lock that keeps the segment
/// alive, whatever process has it and however that one ends.
struct SharedPool {
    std::uint32_t gpu;
    std::uint64_t serial;
};

/// The caller holds the segment. @return -1: the process has no descriptors left.
int make_segment_descriptor(const Process& process, SegmentName name);
int make_pool_descriptor(const Process& process, SharedPool pool);

/// @return nothing: it is no descriptor of this kind.
std::optional<SegmentName> read_segment_descriptor(const Process& process, int descriptor);
std::optional<SharedPool> read_pool_descriptor(const Process& process, int descriptor);

}  // namespace simgpu
