#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/wire/limits.hpp"

/// The pages that daemon and module share. Three per process, each a memfd sealed against growing and
/// shrinking. All three are passed by SCM_RIGHTS with the Welcome, in this order:
///
// clang-format off
///     page     written by  read by  access and trust
///     orders   daemon      module   sealed with F_SEAL_FUTURE_WRITE: a client can only map it read-only,
///                                   because whoever must obey an order must not be able to write it
///     reports  module      daemon   not trusted: the daemon clamps every figure to what is possible
///     doorbell module      daemon   one per instance, shared by its processes: one futex word to wait on
// clang-format on
///
/// Every field is an atomic that stands alone: no two of them have to be read together. So there is no lock,
/// and a process killed between two stores leaves nothing half-written. Times are nanoseconds
/// of the host's CLOCK_MONOTONIC.
///
/// A restarted daemon can't write to the old orders page (the seal holds for it, too): each process
/// reconnects and gets new pages. No thread sleeps on an abandoned page, because waits on `seq` are timed (at
/// most 100 ms).
namespace cgpu::wire {

using Word = std::atomic<std::uint32_t>;
using Signed = std::atomic<std::int64_t>;
using Count = std::atomic<std::uint64_t>;
static_assert(Word::is_always_lock_free && Signed::is_always_lock_free && Count::is_always_lock_free);

constexpr std::uint32_t kOrdersMagic = 0x63475030;    // "cGP0"
constexpr std::uint32_t kReportsMagic = 0x63475031;   // "cGP1"
constexpr std::uint32_t kDoorbellMagic = 0x63475032;  // "cGP2"

enum class GateState : std::uint32_t {
    closed = 0,  ///< no launch passes
    open = 1,    ///< launches pass, metered, while used + in flight < limit_ns
    free = 2,    ///< launches pass unmetered (policy native, or a mode that doesn't divide compute)
};

/// Whether work of another instance may run at the same time.
enum class Overlap : std::uint32_t {
    none = 0,
    others = 1,  ///< it may: don't learn kernels' durations from now on
    /// Also, measured times may include waits for other GPUs: a shorter one is reliable.
    waits_across_gpus = 2,
};

/// The gate of one GPU for one process.
struct alignas(64) Gate {
    Word seq;    ///< bumped after every change of the fields below; the futex word of the waiters
    Word state;  ///< a GateState
    Signed
        limit_ns;  ///< while open: a launch passes as long as used_ns + in_flight_ns is below; max: no bound
    Signed holds_until_ns;  ///< a closed gate that nobody renewed by then has run out (Orders::on_loss says
                            ///< what then)
    Word contended;         ///< 1: another instance wants this GPU, so ring the doorbell when drained
    Word window_us;         ///< GPU time that may be in flight, as the module estimates it; 0: 2 ms
    Word overlap;           ///< an Overlap; an unknown value counts as `others`
    std::uint8_t reserved[20];
};
static_assert(sizeof(Gate) == 64);

/// The orders for one of the instance's GPUs.
struct alignas(64) GpuOrders {
    std::uint8_t
        uuid[16];         ///< as cuDeviceGetUuid gives it; set before the page is handed over, never changed
    Count limit_bytes;    ///< the instance's memory limit on this GPU; max: not limited
    Count total_bytes;    ///< what can be allocated on the physical card
    Word isolate_memory;  ///< 1: enforce limit_bytes; 0: sharing only, the whole card is shown
    /// 1 + the share of the GPU's time that the instance has had lately, in thousandths; 0: it isn't
    /// measured. For observers, as of the last answer about usage.
    Word achieved_share;
    std::uint8_t reserved[16];
};
static_assert(sizeof(GpuOrders) == 64);

enum class OnLoss : std::uint32_t { open = 0, stay_closed = 1 };

struct Orders {
    std::uint32_t magic;
    std::uint32_t version;
    std::uint32_t gpu_count;  ///< entries in use, at most kMaxGpus
    Word on_loss;             ///< an OnLoss: what a closed gate becomes when the daemon is silent
    Signed hold_ns;  ///< how long a thread that has rung waits for any answer before the gate expires
    std::uint8_t reserved[40];
    GpuOrders gpus[kMaxGpus];
    Gate gates[kMaxGpus];
};
static_assert(offsetof(Orders, gpus) == 64);
static_assert(sizeof(Orders) == 64 + kMaxGpus * 128);

/// One process's report on one GPU.
struct alignas(64) GpuReport {
    Count charged_bytes;     ///< bytes that this process has charged to its lease
    Signed used_ns;          ///< GPU time measured so far, by events; only grows
    Signed in_flight_ns;     ///< estimate of all unfinished work together
    Signed oldest_start_ns;  ///< when the oldest unfinished batch began to run, as far as known
    Signed oldest_ns;        ///< estimate of that batch
    Signed waited_ns;        ///< time that launches waited at the gate, so far
    Signed longest_ns;       ///< the longest kernel seen: the floor of every preemption
    Signed usual_gap_ns;     ///< how long this process usually stays idle after a synchronisation
    Count launches;          ///< launches let through so far
    Signed updated_ns;       ///< when this report was last written; 0: never yet
    Word wants;              ///< launches waiting at the gate now
    Word syncing;            ///< threads blocked in a synchronisation now
    Word unmeasured;         ///< 1: work in flight of a kind never measured, its estimate is a guess
    Word reserved0;
    Count pooled_bytes;  ///< the part of charged_bytes for pools, which a driver may have taken back
    std::uint8_t reserved[24];
};
static_assert(sizeof(GpuReport) == 128);

constexpr std::size_t kWaitBuckets = 14;
/// Nanoseconds: a launch is counted in the first bucket whose bound it didn't exceed, or in the last one.
constexpr std::int64_t kWaitBoundsNs[kWaitBuckets - 1] = {
    10'000,     30'000,      100'000,     300'000,       1'000'000,     3'000'000,     10'000'000,
    30'000'000, 100'000'000, 300'000'000, 1'000'000'000, 3'000'000'000, 10'000'000'000};

/// The launches let through on one GPU that had to wait at the gate, by how long each waited. The counts
/// wrap, so a reader adds up differences.
struct alignas(64) LaunchWaits {
    Signed sum_ns;  ///< of the waits that have ended
    Word counts[kWaitBuckets];
};
static_assert(sizeof(LaunchWaits) == 64);

struct Reports {
    std::uint32_t magic;
    std::uint32_t version;
    // While a thread is between a driver call that changes the process's memory and its accounting, the
    // driver's figure and the charges are of different moments.
    Word changing;  ///< threads that are there now
    Word changes;   ///< how often one has been there so far (wraps)
    /// Copies and fills so far that are too small for the gate (wraps).
    Word small_transfers;
    std::uint8_t reserved[44];
    GpuReport gpus[kMaxGpus];
    LaunchWaits waits[kMaxGpus];
};
static_assert(sizeof(Reports) == 64 + kMaxGpus * 192);

/// Rung (incremented, then FUTEX_WAKE, not private) when a launch starts to wait at a gate, and when a
/// process that others wait for has drained.
struct Doorbell {
    std::uint32_t magic;
    std::uint32_t version;
    Word rings;
    std::uint8_t reserved[52];
};
static_assert(sizeof(Doorbell) == 64);

/// Every page is a memfd of this size.
constexpr std::size_t kPageBytes = 4096;
static_assert(sizeof(Orders) <= kPageBytes && sizeof(Reports) <= kPageBytes &&
              sizeof(Doorbell) <= kPageBytes);

}  // namespace cgpu::wire
