#pragma once

#include <cstdint>

namespace simgpu {

using Nanoseconds = std::int64_t;

constexpr std::uint32_t kMaxGpus = 16;
constexpr std::uint32_t kMaxClients = 64;  ///< Contexts on one GPU, over all processes.
constexpr std::uint32_t kMaxQueues =
    40;  ///< Hardware queues of one context; more streams than that share them.
constexpr std::uint32_t kRingSize =
    1024;  ///< Operations pending on one queue before a launch blocks, as in CUDA.
constexpr std::uint32_t kCopyEngines = 2;  ///< Of each GPU: one to the device, one from it.
constexpr std::uint32_t kMaxProcesses = 256;
constexpr Nanoseconds kNever = INT64_MAX / 4;

}  // namespace simgpu
