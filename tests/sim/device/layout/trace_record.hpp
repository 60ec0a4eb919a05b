#pragma once

#include <cstdint>

#include "tests/sim/model/limits.hpp"

namespace simgpu {

/// What one process holds on one GPU from a moment on, until its next record for that GPU. It is a line of
/// the trace.
struct TraceRecord {
    Nanoseconds time;
    std::uint64_t serial;  ///< The process's, never used twice; 0: memory that no process is charged for.
    std::int32_t pid;      ///< In the process's own pid namespace.
    std::uint32_t gpu;
    std::uint64_t context_bytes;
    std::uint64_t module_bytes;
    std::uint64_t allocated_bytes;
    char comm[16];  ///< As it was when the process opened the device.
};
static_assert(sizeof(TraceRecord) == 64);

/// As `gpu`: this is no change, but the end of a period (allocated_bytes, in nanoseconds) in which the
/// device's lock was not available, because its holder was stopped. No call of the driver returned meanwhile.
constexpr std::uint32_t kTraceLocked = kMaxGpus;
constexpr Nanoseconds kLongLocked = 50'000'000;  ///< Shorter ones are not recorded.

struct TraceHead {
    std::uint32_t on;
    std::uint64_t count;
    std::uint64_t lost;  ///< Records for which there was no room.
};

/// A gigabyte of records.
constexpr std::uint64_t kMaxTraceRecords = std::uint64_t{1} << 24;

}  // namespace simgpu
