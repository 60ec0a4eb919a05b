#pragma once

#include <optional>

#include "tests/sim/device/layout/segment.hpp"

namespace simgpu {

class Process;

/// What a file descriptor that was passed to a process stands for. Such a descriptor is a descriptor of the
/// device file, and its file offset says what it stands for. One of a segment also holds a lock that keeps
/// the segment alive, in whichever process it is and however that process ends.
struct SharedPool {
    std::uint32_t gpu;
    std::uint64_t serial;
};

/// The caller holds the segment. @return -1: the process has no descriptors left.
int make_segment_descriptor(const Process& process, SegmentName name);
int make_pool_descriptor(const Process& process, SharedPool pool);

/// @return nothing: it is not a descriptor of this kind.
std::optional<SegmentName> read_segment_descriptor(const Process& process, int descriptor);
std::optional<SharedPool> read_pool_descriptor(const Process& process, int descriptor);

}  // namespace simgpu
