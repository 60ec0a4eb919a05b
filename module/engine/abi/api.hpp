#pragma once

#include <cstddef>
#include <cstdint>

#include "core/wire/pages.hpp"

/// The functions of an engine that a front calls. The front stays in a process as long as it lives, and the
/// engine behind it is exchanged, so this header is an ABI: plain structs, fixed widths, one table of
/// functions that `cgpu_engine_table` returns.
///
/// The engine decides and keeps accounts. It never blocks, never calls the driver, creates no thread, has no
/// thread-local state, has nothing to destroy when the process ends (its threads may still call), allocates
/// by the two functions that it is given, and can be called from several threads (its own locks are private
/// to the process and held for nanoseconds, never over a call out). The front carries out the engine's
/// decisions: it waits, calls the driver and talks to the daemon.
///
/// GPUs are indexes into Orders::gpus. Streams, contexts and functions are opaque 64-bit keys that the front
/// chooses.
namespace cgpu::module {

/// Another layout of what is below needs another number; functions that are added at the table's end don't:
/// see kLeastTableBytes. (Number 1 was given before the first release.)
constexpr std::uint32_t kEngineAbi = 2;
constexpr const char* kEngineTableSymbol = "cgpu_engine_table";

struct Engine;  // opaque

struct EngineHost {
    void* (*allocate)(std::uint64_t bytes);  ///< malloc of the process
    void (*free)(void*);
};

// --- Memory ---

/// The kind of thing that a charge belongs to.
enum class Holding : std::uint32_t {
    address = 1,   ///< device memory at an address (plain, pitch): charged by the granules it touches,
                   ///< so that small allocations sharing one are charged once
    array = 2,     ///< a CUarray or CUmipmappedArray
    physical = 3,  ///< a CUmemGenericAllocationHandle
    pool = 4,      ///< a CUmemoryPool, at what it has taken from the card (resize)
};

// --- Compute ---

/// A run of launches on one stream between two events. 0 is no batch.
using BatchId = std::uint64_t;

/// Launch::waited of a thread that has waited for `ns`: 1 + whole microseconds, which end at 71 minutes.
constexpr std::uint32_t waited_code(std::int64_t ns) {
    constexpr std::int64_t kMost = 0xffff'ffff - 1;
    const std::int64_t us = ns / 1000;
    return 1 + static_cast<std::uint32_t>(us < 0 ? 0 : us > kMost ? kMost : us);
}

/// The nanoseconds in such a code, which is not 0.
constexpr std::int64_t waited_ns(std::uint32_t code) { return static_cast<std::int64_t>(code - 1) * 1000; }

struct Launch {
    std::uint32_t gpu;
    /// Not 0: this thread has already been told to wait for this launch, waited_code() of the time since
    /// then.
    std::uint32_t waited;
    std::uint64_t context;
    std::uint64_t stream;
    std::uint64_t function;
    std::int64_t now_ns;  ///< CLOCK_MONOTONIC
};

enum class Act : std::uint32_t {
    pass = 1,    ///< call the driver, no metering: the gate is free (`more` counts, for batch 0)
    launch = 2,  ///< call the driver, metered: do as `open` and `close` say
    wait = 3,    ///< don't: close what `next_open_batch` names, reap, wait as said below, then ask again
};

struct Decision {
    Act act;
    std::uint32_t more;  ///< this many further launches may pass without asking: see TimeGrant
    std::uint32_t seq;   ///< Gate::seq that the decision rests on
    std::uint32_t ring;  ///< 1: ring the doorbell now
    BatchId open;        ///< not 0: record this batch's start event on the stream before the launch
    BatchId close;  ///< not 0: record this batch's end event on the stream after the launch (and after the
                    ///< `more` ones: it is only given with more == 0)
    BatchId batch;  ///< launch: the batch it belongs to (what `return_time` wants to know)
    const wire::Word* word;    ///< wait: futex word (null: wait for the time only), ...
    std::uint32_t value;       ///< ... while it has this value ...
    std::uint32_t reap_first;  ///< 1: the window is full: the wait is for a batch to be reaped
    std::int64_t until_ns;     ///< ... until then at the latest (CLOCK_MONOTONIC, at most 100 ms ahead)
};

/// A launch, and a report of the thread's earlier launches that it didn't ask about.
struct TimeRequest {
    Launch launch;
    std::uint32_t passed;  ///< launches of this function on grants, since the thread asked about it last
    std::uint32_t returned_launches;  ///< what is left of the thread's last grant on this GPU: launches, ...
    std::int64_t returned_ns;         ///< ... their time, ...
    BatchId returned_batch;           ///< ... and the batch that they were for
};

/// GPU time granted in advance. The thread remembers the cost of a launch that passes; further launches may
/// pass without asking as long as the grant's launches and time last.
struct TimeGrant {
    Decision decision;  ///< `more`: so many further launches of functions that the thread knows the cost of,
                        ///< on the same stream, by the same thread, while the gate's seq stays `seq`; under a
                        ///< free gate of any functions on any stream. Already accounted for
    std::int64_t time_ns;     ///< they may cost this much together
    std::int64_t cost_ns;     ///< what the launch asked about costs
    std::uint32_t ask_after;  ///< so many further launches of its function may cost the same (less than 4 s);
                              ///< then ask about it again; 0: ask about each
    std::uint32_t any_function;  ///< 1: functions that were last asked about for another batch may pass, too
    BatchId close_first;         ///< not 0: record this batch's end event on the stream before `open`'s start
};

/// An open batch that must be closed: the front records the end event on `stream` (of `context`), then calls
/// `closed`.
struct OpenBatch {
    BatchId batch;
    std::uint64_t context;
    std::uint64_t stream;
};

struct EngineTable {
    std::uint32_t abi;      ///< kEngineAbi
    std::uint32_t version;  ///< major << 16 | minor << 8 | patch
    std::uint64_t bytes;    ///< sizeof this table

    Engine* (*create)(const EngineHost*);
    void (*destroy)(Engine*);
    /// The pages of a new connection. Charges, batches and figures stay; reports are written to the new page
    /// at once. Null pages: not connected; every gate then counts as Orders::on_loss of the last pages says,
    /// and as open if there were none.
    void (*bind)(Engine*, const wire::Orders*, wire::Reports*);

    // Memory: reserve → driver call → commit or cancel. Bytes are those asked of the driver.
    /// Reserves `bytes` (rounded up to granules) of the lease. 0: done; else the number of bytes that the
    /// lease lacks.
    std::uint64_t (*reserve)(Engine*, std::uint32_t gpu, std::uint64_t bytes);
    /// Turns a reservation of `reserved` bytes into a charge for the memory that the driver gave.
    void (*commit)(Engine*, std::uint32_t gpu, Holding, std::uint64_t key, std::uint64_t bytes,
                   std::uint64_t reserved);
    void (*cancel)(Engine*, std::uint32_t gpu, std::uint64_t reserved);
    /// Looks up a holding. 1: found, *gpu and *bytes are set (the size as committed); 0: unknown, forward the
    /// call unchanged.
    std::uint32_t (*find)(Engine*, Holding, std::uint64_t key, std::uint32_t* gpu, std::uint64_t* bytes);
    /// Around a driver call that may free charged memory, and the release of the charge: 1 before the call, 0
    /// after the release. (A reservation that is neither committed nor cancelled has the same meaning for an
    /// allocation.)
    void (*freeing)(Engine*, std::uint32_t begins);
    /// The driver has freed it: the charge ends. Returns 1 if it was known.
    std::uint32_t (*release)(Engine*, Holding, std::uint64_t key);
    /// As `release`, of memory that may live on outside this process: what the charge took is off the lease,
    /// too, before any other call can use it. Returns how many bytes of lease that was.
    std::uint64_t (*surrender)(Engine*, Holding, std::uint64_t key);
    /// Releases everything that was made in a context that the driver has destroyed. (`note_context` records
    /// the context of a key.)
    void (*note_context)(Engine*, Holding, std::uint64_t key, std::uint64_t context);
    void (*release_context)(Engine*, std::uint64_t context);
    /// The daemon granted this many bytes more.
    void (*lease)(Engine*, std::uint32_t gpu, std::uint64_t bytes);
    /// Takes unused bytes off the lease for a Give: at most `wanted`, keeping `keep` bytes unused. Returns
    /// how many.
    std::uint64_t (*spare)(Engine*, std::uint32_t gpu, std::uint64_t wanted, std::uint64_t keep);
    std::uint64_t (*charged)(Engine*, std::uint32_t gpu);
    /// The bytes granted, minus those taken off by spare.
    std::uint64_t (*leased)(Engine*, std::uint32_t gpu);
    /// Sets the size of a holding whose kind is charged by its size alone, after a driver call for which
    /// `reserved` bytes were reserved (0: none); it is created if it isn't known. Returns by how many bytes
    /// the charges exceed the lease (0: they don't). Reservations of others don't count: their driver calls
    /// may be part of the charge already.
    std::uint64_t (*resize)(Engine*, std::uint32_t gpu, Holding, std::uint64_t key, std::uint64_t bytes,
                            std::uint64_t reserved);

    // Compute.
    /// Whether a launch may pass, and how, and GPU time for further ones.
    void (*request_time)(Engine*, const TimeRequest*, TimeGrant*);
    /// The rest of a grant, or a launch that passed on one and was refused by the driver.
    void (*return_time)(Engine*, std::uint32_t gpu, BatchId, std::uint32_t launches, std::int64_t ns);
    /// Whether the time of this batch, which was opened by the last decision of this thread, may be
    /// estimated. 1: the front records no start event. If the program waits for the batch, it records no end
    /// event either, and calls `estimated` after the wait; else it records one, as for every other batch.
    std::uint32_t (*may_estimate)(Engine*, BatchId);
    /// A closed batch without a start event has ended at `end_ns` (CLOCK_MONOTONIC), by its end event
    /// (`closed` was called when that was recorded); or, with by_event 0, by then at the latest, because a
    /// wait for it has returned. Charges its estimate, or the time since its first launch if the estimate
    /// can't be true.
    void (*estimated)(Engine*, BatchId, std::int64_t end_ns, std::uint32_t by_event, std::int64_t now_ns,
                      std::uint32_t* ring);
    /// The next open batch on a GPU (stream 0xffff…: any stream, context 0: any); 0 if there is none. With
    /// older_than_ns > 0, a CLOCK_MONOTONIC time, only batches without a launch since then. Cycles through
    /// the batches: one that the front could not close comes again after all others. Closing a batch ends
    /// every `more` that was given in it.
    std::uint32_t (*next_open_batch)(Engine*, std::uint32_t gpu, std::uint64_t context, std::uint64_t stream,
                                     std::int64_t older_than_ns, OpenBatch*);
    /// The end event has been on the stream since `now_ns`.
    void (*closed)(Engine*, BatchId, std::int64_t now_ns);
    /// The oldest closed batch of a context that has not been reaped: poll its end event. 0: none.
    BatchId (*oldest)(Engine*, std::uint32_t gpu, std::uint64_t context);
    /// The next closed batch of the same context after that one, on any stream: it may end before an older
    /// one. 0: none.
    BatchId (*following)(Engine*, BatchId);
    /// The batch's end event has completed. The times of both events are on the GPU's clock, mapped to
    /// CLOCK_MONOTONIC by the front.
    void (*reaped)(Engine*, BatchId, std::int64_t start_ns, std::int64_t end_ns, std::int64_t now_ns,
                   std::uint32_t* ring);
    /// The batch can't be measured (its events failed, its context is gone): drop it, charge its estimate.
    void (*lost)(Engine*, BatchId);
    /// When the front should poll again (the predicted end of the oldest batch); max: nothing is in flight.
    std::int64_t (*poll_at)(Engine*, std::uint32_t gpu, std::int64_t now_ns);
    void (*sync_begin)(Engine*, std::uint32_t gpu, std::int64_t now_ns);
    void (*sync_end)(Engine*, std::uint32_t gpu, std::int64_t now_ns);

    // Upgrade. The front keeps all threads out of the old engine, saves it, restores the new one, compares
    // the figures of both (charged, leased, whether work is in flight), binds the new one, and lets all
    // threads in there. So every version must report the same charges for the same accounts.
    /// Saves the complete state, in a form that any version reads. Returns the number of bytes needed; writes
    /// if `bytes` is enough. Without a buffer it returns an upper bound quickly, because callers continue
    /// meanwhile.
    std::uint64_t (*save)(Engine*, void* buffer, std::uint64_t bytes);
    /// Restores into an engine that was just created and is bound to its pages afterwards. Everything that
    /// the saved engine handed out stays valid: keys, batches, reservations, waits. 0: not understood or no
    /// memory; then the new engine can't be used.
    std::uint32_t (*restore)(Engine*, const void* saved, std::uint64_t bytes);

    // From here on: only in engines whose table is long enough.
    /// The first launch call of a batch returned at `now_ns`, `ns` after its start event was recorded, and
    /// the stream was idle then. Only for a kernel, which the GPU gets at the end of such a call, and only if
    /// no other thread has launched into the batch.
    void (*first_launched)(Engine*, BatchId, std::int64_t ns, std::int64_t now_ns);
};

/// The size that every table of this ABI has. A function that is added after `restore` is only in engines
/// whose table is long enough: a front asks for `bytes` before it calls one.
constexpr std::uint64_t kLeastTableBytes = offsetof(EngineTable, restore) + sizeof(EngineTable::restore);

extern "C" const EngineTable* cgpu_engine_table();
using EngineTableFunction = const EngineTable* (*)();

}  // namespace cgpu::module
