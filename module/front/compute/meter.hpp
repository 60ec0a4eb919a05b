#pragma once

#include "module/front/contexts/context_table.hpp"

namespace cgpu::front {

/// GPU time by events: a batch of launches lies between two events of ours on its stream. None of these may
/// be called while a lock is held.

/// Records the start event of a batch that the engine has opened. False: it can't be measured, and the engine
/// knows. `owner_closes`: see Batch.
bool open_batch(Context& context, module::BatchId id, CUstream stream, bool owner_closes);

/// Whether the batch still takes a launch of this thread, which has told so (Launching::begin).
bool takes_launch(Context& context, module::BatchId id);

/// Before a launch that the batch is to be closed behind, by this thread.
void note_last_launch(Context& context, module::BatchId id);

/// Behind a launch on a per-thread stream: records the batch's end event (again).
void mark_end(Context& context, module::BatchId id);

/// Records the end event and tells the engine. False: no such open batch; or somebody else does it, be it the
/// thread that is just launching into the batch.
bool close_batch(Context& context, module::BatchId id);

/// What a thread that is done with a launch into a batch (Launching::end) has to do where batches were closed
/// meanwhile: to close this one, if that was left to it.
void close_left_over(Context& context, module::BatchId id);

/// Closes the open batches of a context: of one stream (its key), or of all (kAnyStream). With last_before_ns
/// > 0 only those whose last launch was before that time.
constexpr std::uint64_t kAnyStream = ~std::uint64_t{0};
void close_batches(Context& context, std::uint64_t stream, std::int64_t last_before_ns = 0);

/// Takes what the GPU has finished off the context's list. True where there was something.
bool reap(Context& context);

/// Closes and reaps everything of a GPU: what a waiting launch does before it waits.
bool settle(int gpu);

/// Before a context is destroyed: its batches can't be measured any more.
void forget_batches(Context& context);

/// The service thread's round over all contexts: closes batches that have had no launch for 1 ms, reaps.
/// Returns when to come again.
std::int64_t look_after_batches(std::int64_t now);

}  // namespace cgpu::front
