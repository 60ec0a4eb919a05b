#pragma once

#include "module/engine/api.hpp"
#include "module/front/swap/sections.hpp"

namespace cgpu::front {

/// Which batch each thread is launching into, so that nobody records the end of a batch between the moment a
/// launch was let into it and the moment the driver has it. To tell costs a thread two plain stores to a line
/// of its own; who wants to know makes up for that with membarrier(2) (see Sections).
///
/// A thread launches one at a time: of a launch on several devices only the innermost is told. A thread that
/// can't have a slot tells nothing.
class Launching {
  public:
    /// Before the look whether the batch (still) takes launches.
    static void begin(module::BatchId batch) {
        detail::Slot* slot = detail::this_thread.slot;
        if (slot == nullptr) return;
        if (sections().expedited()) {
            slot->batch.store(batch, std::memory_order_relaxed);
            std::atomic_signal_fence(std::memory_order_seq_cst);
        } else {
            slot->batch.exchange(batch);
        }
    }

    /// After the driver has it, and before the look whether somebody wanted to close the batch meanwhile.
    static void end() { begin(0); }

    /// Whether any thread is launching into a batch. Full barrier for all threads: what they have seen before
    /// they began, they have seen before this call ended.
    static bool anybody(module::BatchId batch) { return sections().anybody_launches(batch); }

    /// Tells threads apart; null: one without a slot.
    static const void* me() { return detail::this_thread.slot; }
};

}  // namespace cgpu::front
