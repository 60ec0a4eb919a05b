#pragma once

#include "module/engine/abi/api.hpp"
#include "module/front/swap/sections.hpp"

namespace cgpu::front {

/// Which batch each thread is launching into, so that nobody records the end of a batch between the moment a
/// launch was let into it and the moment the driver has it.
///
/// Into most batches only one thread launches. It tells that by two plain stores to a line of its own, and
/// who wants to know makes up for that with membarrier(2) (see Sections), which takes microseconds. Where
/// threads launch into one stream together, somebody wants to know that at the end of every batch:
/// launches into such batches are announced by locked instructions (`announce_locked`), which need no
/// membarrier.
///
/// A thread launches one at a time: of a launch on several devices only the innermost is told. A thread that
/// can't have a slot tells nothing.
class Launching {
  public:
    /// Before the look whether the batch (still) takes launches.
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

    /// After the driver has it, and before the look whether somebody wanted to close the batch meanwhile.
    static void end(bool announce_locked) { begin(0, announce_locked); }

    /// Whether any thread is launching into a batch. What threads have seen before they began, they have seen
    /// before this call ended.
    static bool anybody(module::BatchId batch, bool announce_locked) {
        return sections().anybody_launches(batch, !announce_locked);
    }

    /// Tells threads apart; null: one without a slot.
    static const void* me() { return detail::this_thread.slot; }
};

}  // namespace cgpu::front
