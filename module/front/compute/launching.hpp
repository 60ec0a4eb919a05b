#pragma once

#include "module/engine/abi/api.hpp"
#include "module/front/swap/sections.hpp"

namespace cgpu::front {

/// Publishes the batch into which each thread is launching, so that no thread records the end of a batch
/// between the moment when a launch was assigned to it and the moment when the driver has the launch.
///
/// Most batches have launches of only one thread. It publishes them by two plain stores to a cache line of
/// its own, and a reader makes up for that with membarrier(2) (see Sections), which takes microseconds. If
/// threads launch into one stream together, there is a reader at the end of every batch: launches into such
/// batches are published by locked instructions (`announce_locked`), which need no membarrier.
///
/// A thread has one launch at a time: of a launch on several devices only the innermost is published. A
/// thread that can't have a slot publishes nothing.
class Launching {
  public:
    /// Call before the check whether the batch (still) takes launches.
    static void begin(module::BatchId batch, bool announce_locked) {
        detail::Slot* slot = detail::this_thread.slot;
        if (slot == nullptr) return;
        if (!announce_locked && sections().expedited()) {
            slot->batch.store(batch, std::memory_order_relaxed);
            std::atomic_signal_fence(std::memory_order_seq_cst);
        } else {
            slot->batch.exchange(batch);
        }
    }

    /// Call after the driver has the launch, and before the check whether another thread wanted to close the
    /// batch.
    static void end(bool announce_locked) { begin(0, announce_locked); }

    /// Whether any thread is launching into a batch. Everything that threads had seen before they began is
    /// visible when this call returns.
    static bool anybody(module::BatchId batch, bool announce_locked) {
        return sections().anybody_launches(batch, !announce_locked);
    }

    /// Identifies the thread; null: it has no slot.
    static const void* me() { return detail::this_thread.slot; }
};

}  // namespace cgpu::front
