#pragma once

#include <cstdint>

#include "tests/sim/model/limits.hpp"

namespace simgpu {

enum class ProcessState : std::uint32_t { free, alive, gone };

/// Which of NVML's lists of processes have it.
enum class ProcessType : std::uint32_t { compute, graphics, compute_and_graphics, mps };

/// What one process holds on one GPU, and the GPU time that it has had.
struct GpuUse {
    std::uint64_t context_bytes;
    std::uint64_t module_bytes;
    std::uint64_t allocated_bytes;
    std::uint64_t peak_bytes;
    Nanoseconds served;  ///< By contexts that are destroyed; living ones count in the timeline.

    std::uint64_t bytes() const { return context_bytes + module_bytes + allocated_bytes; }
};

/// A process that opened the device. It stays listed after its end.
struct ProcessEntry {
    ProcessState state;
    ProcessType type;
    std::int32_t pid;             ///< In the process's own pid namespace.
    std::uint64_t pid_namespace;  ///< inode of that namespace
    std::uint64_t start_time;     ///< Clock ticks after boot, as in /proc/PID/stat.
    std::uint64_t serial;         ///< Never used twice; in the order of opening.
    char comm[16];
    GpuUse gpus[kMaxGpus];
};

}  // namespace simgpu
