#pragma once

#include <atomic>
#include <cstdint>

#include "tests/sim/device/layout/card.hpp"
#include "tests/sim/device/layout/ipc_event.hpp"
#include "tests/sim/device/layout/process_entry.hpp"
#include "tests/sim/device/layout/segment.hpp"
#include "tests/sim/device/layout/trace_record.hpp"
#include "tests/sim/model/record.hpp"
#include "tests/sim/model/timeline_state.hpp"

namespace simgpu {

/// The old contents of what is being changed. A process that is killed while it holds the lock leaves it
/// non-empty, and the next process that takes the lock restores the old contents.
struct JournalArea {
    std::atomic<std::uint64_t> used;
    std::byte data[4U << 20];
};

/// An error of a GPU that the driver has reported.
struct XidRecord {
    std::uint64_t code;
    std::uint32_t gpu;
};
constexpr std::uint64_t kMaxXids = 256;

/// What the driver was told to limit a cgroup's memory of a GPU to. It is told to those who ask, and not
/// enforced.
struct MemoryLimit {
    std::uint64_t cgroup;  ///< inode of its folder; 0: this entry is free
    std::uint64_t soft;    ///< bytes, as hard
    std::uint64_t hard;
    std::uint32_t gpu;
};
constexpr std::uint32_t kMaxMemoryLimits = 64;

/// What nvidia-smi sets of a card. The simulated driver reports it through NVML, and behaves as before.
enum class GpuMode : std::uint32_t {
    normal,      ///< compute mode DEFAULT, MIG off, persistence mode on
    exclusive,   ///< compute mode EXCLUSIVE_PROCESS
    prohibited,  ///< compute mode PROHIBITED
    mig,         ///< MIG is on
    fleeting,    ///< persistence mode is off
};

/// The shared file. The rings follow it at kRingsOffset, the bytes of the segments at kDataOffset. Everything
/// but rings and bytes is changed only under the lock.
struct Layout {
    std::uint64_t magic;
    std::uint32_t version;
    std::uint32_t gpu_count;
    std::uint64_t file_bytes;  ///< Without the data area.
    Card cards[kMaxGpus];
    JournalArea journal;
    std::uint64_t process_serial;
    std::uint32_t process_count;  ///< Entries from here on have never been used.
    ProcessEntry processes[kMaxProcesses];
    TimelineState timeline;
    std::uint64_t segment_serial;
    std::uint64_t
        segment_cursor;  ///< Where room for the next one is looked for, as an offset in the data area.
    std::uint32_t segment_count;            ///< Entries from here on are free.
    std::uint64_t unowned_bytes[kMaxGpus];  ///< Of segments that are charged to no process.
    Segment segments[kMaxSegments];
    std::uint64_t ipc_event_serial;
    IpcEvent ipc_events[kMaxIpcEvents];
    TraceHead trace;
    std::atomic<std::uint32_t> lost_gpus;    ///< A bit for each that has fallen off its bus.
    std::atomic<std::uint32_t> driver_gone;  ///< Not 0: as if it were unloaded.
    std::atomic<std::uint64_t> xid_count;    ///< Errors that were ever reported; the last of them follow.
    XidRecord xids[kMaxXids];                ///< The n-th at n % kMaxXids.
    std::atomic<GpuMode> modes[kMaxGpus];    ///< What an administrator has set by nvidia-smi.
    MemoryLimit memory_limits[kMaxMemoryLimits];
};
static_assert(kMaxGpus <= 32);

constexpr std::uint64_t kMagic = 0x7570676d6973ULL;  // "simgpu"
constexpr std::uint32_t kLayoutVersion = 10;
constexpr std::uint64_t kRingsOffset = (sizeof(Layout) + 4095) / 4096 * 4096;

// The data area is sparse: only what programs wrote takes memory. It is far larger than all cards, so that
// there is always a gap of the right size.
constexpr std::uint64_t kDataOffset = std::uint64_t{2} << 40;
constexpr std::uint64_t kDataBytes = std::uint64_t{8} << 40;

// The records of the trace; sparse until the first one is written.
constexpr std::uint64_t kTraceOffset = std::uint64_t{3} << 39;
static_assert(kTraceOffset + kMaxTraceRecords * sizeof(TraceRecord) <= kDataOffset);

// Byte ranges of the file for OFD locks; they are between the rings and the data area.
constexpr std::int64_t kStateLock = std::int64_t{1} << 40;
constexpr std::int64_t kAliveLock = kStateLock + 4096;    ///< + process slot: held by the living process
constexpr std::int64_t kSegmentLock = kAliveLock + 4096;  ///< + segment: held by its open descriptors
constexpr std::int64_t kPoolMark = kSegmentLock + kMaxSegments;  ///< + pool: where its descriptors stand

}  // namespace simgpu
