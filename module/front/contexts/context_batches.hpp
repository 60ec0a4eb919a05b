#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "module/engine/abi/api.hpp"
#include "module/front/base/waiting.hpp"
#include "module/front/contexts/gpu_clock.hpp"
#include "module/front/driver/cuda_abi.hpp"

namespace cgpu::front {

/// Launches on one stream between two events that the front recorded; compute/batch.hpp describes its life.
struct Batch {
    module::BatchId id;
    CUstream stream;
    CUevent start;  ///< null: its time is estimated, and it has no end event either until one is recorded
    CUevent end;
    bool owner_closes;  ///< on a per-thread stream: its end event is recorded behind every launch, by its own
                        ///< thread
    const void* opener;           ///< who opened it (Launching::me), ...
    bool announce_locked;         ///< see Launching
    bool shared = false;          ///< ... and whether others have launched into it since
    std::int64_t close_ns = 0;    ///< closing since then, and takes no launches; 0: it is open
    bool closed = false;          ///< a thread is recording its end, or has recorded it
    bool ends_with_wait = false;  ///< has no end event, because a thread is waiting for all of it
    bool recording = false;       ///< a thread is recording its end in spite of that
    std::int64_t idle_ns = 0;     ///< its start event was recorded then on an idle stream; 0: not, or unknown
    Batch* next = nullptr;

    /// How long the GPU waited for its first launch, whose call has returned now; 0: unknown. What another
    /// thread has launched into it may have begun before.
    std::int64_t run_up_ns(std::int64_t now_ns) const {
        return idle_ns == 0 || shared || closed ? 0 : now_ns - idle_ns;
    }
};

/// A stream into which several threads have launched recently.
struct SharedStream {
    std::uint64_t key = 0;       ///< stream_key; 0: a free place
    std::uint32_t unshared = 0;  ///< batches since then with launches of one thread only
};

/// One context's batches that aren't reaped yet, and their state: streams, events, the clock.
struct ContextBatches {
    Mutex mutex;  ///< of the batches and the streams
    Batch* first = nullptr;
    std::array<SharedStream, 4> shared_streams{};
    std::size_t next_shared = 0;
    std::array<module::BatchId, 16> early_closes{};  ///< see close_once_open
    std::size_t next_early = 0;
    std::array<CUevent, 32> pool{};
    std::size_t pooled = 0;

    // Used by the thread that holds `reaping`. Events give differences in float milliseconds, which are exact
    // to half a microsecond only while the difference is a few seconds. So there is a base event whose time
    // on the GPU is kept in 64-bit nanoseconds, and each reaped batch's end event becomes the new base.
    std::atomic<bool> reaping{false};
    CUevent base = nullptr;
    std::int64_t base_ns = 0;
    GpuClock clock;

    /// Incremented before a batch is closed, so that threads stop launching into it. Several batches share a
    /// counter: batches of several streams follow each other, and so have different counters.
    std::array<std::atomic<std::uint32_t>, 16> closes{};
    std::atomic<std::uint32_t>& closes_of(module::BatchId id) { return closes[id % closes.size()]; }

    // With the mutex held.
    /// Null: it doesn't exist (any more).
    Batch* find(module::BatchId id);
    /// Unlinks and returns it.
    Batch* take(module::BatchId id);
    SharedStream* find_shared(CUstream stream);
    /// A batch has ended: updates whether its stream is shared.
    void note_shared(const Batch& batch);
    /// The batch to close isn't in the list: the engine has opened it for another thread, which has not
    /// recorded its start yet. That thread closes it after its launch. (Or the batch is gone already: then
    /// nobody asks for it any more, because no id is used twice.)
    void close_once_open(module::BatchId id);
    /// Whether a thread wanted to close the batch before it was in the list.
    [[nodiscard]] bool is_to_close(module::BatchId id) const;
};

}  // namespace cgpu::front
