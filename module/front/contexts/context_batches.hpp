#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "module/engine/abi/api.hpp"
#include "module/front/base/waiting.hpp"
#include "module/front/contexts/gpu_clock.hpp"
#include "module/front/driver/cuda_abi.hpp"

namespace cgpu::front {

/// Launches on one stream between two events that the front recorded; compute/batch.hpp tells its life.
struct Batch {
    module::BatchId id;
    CUstream stream;
    CUevent start;
    CUevent end;
    bool owner_closes;  ///< on a per-thread stream: its end event is recorded behind every launch, by its own
                        ///< thread
    const void* opener;         ///< who opened it (Launching::me), ...
    bool announce_locked;       ///< see Launching
    bool shared = false;        ///< ... and whether others have launched into it since
    std::int64_t close_ns = 0;  ///< closing since then, and takes no launches; 0: it is open
    bool closed = false;        ///< somebody is recording its end, or has
    Batch* next = nullptr;
};

/// A stream that several threads launched into lately.
struct SharedStream {
    std::uint64_t key = 0;       ///< stream_key; 0: a free place
    std::uint32_t unshared = 0;  ///< batches since that one thread had for itself
};

/// The batches of one context that aren't reaped yet, and what is kept for them: streams, events, the clock.
struct ContextBatches {
    Mutex mutex;  ///< of the batches and the streams
    Batch* first = nullptr;
    std::array<SharedStream, 4> shared_streams{};
    std::size_t next_shared = 0;
    std::array<module::BatchId, 16> early_closes{};  ///< see close_once_open
    std::size_t next_early = 0;
    std::array<CUevent, 32> pool{};
    std::size_t pooled = 0;

    // Of the thread that holds `reaping`. Events give differences in float milliseconds: exact to half a
    // microsecond only while the difference is some seconds. So there is a base event whose time on the GPU
    // is kept in 64-bit nanoseconds, and each reaped batch's end event becomes the new base.
    std::atomic<bool> reaping{false};
    CUevent base = nullptr;
    std::int64_t base_ns = 0;
    GpuClock clock;

    /// Bumped before a batch is closed, so that threads stop launching into it. One for several batches:
    /// those of several streams follow each other, and so have different ones.
    std::array<std::atomic<std::uint32_t>, 16> closes{};
    std::atomic<std::uint32_t>& closes_of(module::BatchId id) { return closes[id % closes.size()]; }

    // With the mutex held.
    /// Null: it isn't there (any more).
    Batch* find(module::BatchId id);
    /// Unlinks it.
    Batch* take(module::BatchId id);
    SharedStream* find_shared(CUstream stream);
    /// A batch has ended: whether its stream is shared is known again.
    void note_shared(const Batch& batch);
    /// To be closed is a batch that isn't in the list: the engine has opened it for another thread, which has
    /// not come to record its start yet. That thread closes it behind its launch. (Or it is gone already:
    /// then nobody asks about it any more, since no id comes twice.)
    void close_once_open(module::BatchId id);
    /// Whether somebody wanted to close the batch before it was in the list.
    [[nodiscard]] bool is_to_close(module::BatchId id) const;
};

}  // namespace cgpu::front
