#pragma once

#include "module/front/contexts/context_table.hpp"

/// The life of a batch: the launches on one stream between two events of ours. The events tell how long the
/// launches took. The engine decides when a batch begins and ends; these functions carry that out on the
/// stream.
///
/// 1. Open: the start event is recorded, and launches go into the batch (open_batch, takes_launch).
/// 2. Closing: the batch accepts no further launch (close_batch, note_last_launch). If a thread is inside
///    a launch call for this batch, that thread closes it after the driver returns (close_left_over).
/// 3. Closed: the end event is recorded, and the engine knows.
/// 4. Reaped: the GPU has passed the end event, and the engine knows when (reap.hpp). Or lost: the batch
///    can't be measured any more.
///
/// The engine lets short batches go without events if the program waits for each of them (estimated batches).
/// Such a batch has no start event. If a thread closes it in order to wait for it, it has no end event
/// either, and ends with that wait (end_by_wait). If the wait takes long, its end is recorded after all
/// (record_late_ends). In every other case it is closed like a measured one.
///
/// None of these functions may be called while a lock is held.
namespace cgpu::front {

/// Records the start event of a batch that the engine has opened, unless the engine lets it be estimated.
/// False: the batch can't be measured, and the engine knows. `owner_closes`: see Batch. `one_launch`: it is
/// closed after this launch. `one_kernel`: see Work. Sets `announce_locked`, the way in which launches into
/// it are published: see Launching.
struct Opening {
    CUstream stream;
    bool owner_closes;
    bool one_launch;
    bool one_kernel;
};
bool open_batch(Context& context, module::BatchId id, const Opening& opening, bool& announce_locked);

/// Call when the launch call of the thread that opened the batch has returned, with the time of that: tells
/// the engine how long the GPU waited for it, if that is known.
void note_first_launch(Context& context, module::BatchId id, std::int64_t now);

/// Whether the batch still takes a launch of this thread, which has published it (Launching::begin, locked).
/// If so, sets `announce_locked`.
bool takes_launch(Context& context, module::BatchId id, bool& announce_locked);

/// Call after a launch on a per-thread stream: records the batch's end event (again).
void mark_end(Context& context, module::BatchId id);

/// Call before a launch after which this thread closes the batch.
void note_last_launch(Context& context, module::BatchId id);

/// Records the end event and tells the engine. `before_wait`: this thread is about to wait for the batch.
/// no: there is no such open batch; or another thread does it, possibly the one that is launching into the
/// batch. by_wait: it has no end event, and this thread must call end_by_wait after the wait.
enum class Closed { no, yes, by_wait };
Closed close_batch(Context& context, module::BatchId id, bool before_wait = false);

/// Call after a launch into a batch (Launching::end) if batches were closed meanwhile: closes this batch, if
/// that was left to this thread.
void close_left_over(Context& context, module::BatchId id);

/// Closes the open batches of a context: of one stream (its key), or of all (kAnyStream). With last_before_ns
/// > 0 only those whose last launch was before that time.
constexpr std::uint64_t kAnyStream = ~std::uint64_t{0};
void close_batches(Context& context, std::uint64_t stream, std::int64_t last_before_ns = 0);

/// The same before a wait for the work of `waited_stream`, or for all of it (kAnyStream). Returns the batch
/// that ends with that wait; 0: none. (There is one at most, because the engine estimates only one at a
/// time.)
module::BatchId close_before_wait(Context& context, std::uint64_t stream, std::uint64_t waited_stream);

/// The wait for that batch has ended. `done`: with success; else its end is recorded after all.
void end_by_wait(Context& context, module::BatchId id, bool done);

/// Records the end of such a batch if the wait takes long: the waiting thread may have been cancelled in it.
void record_late_ends(Context& context, std::int64_t now);

/// Closes a batch that has waited too long for the launch of a thread, which may never return from the
/// driver.
void close_overdue(Context& context, std::int64_t now);

/// Releases the resources of a batch that is in no list any more (or null).
void drop_batch(Context& context, Batch* batch);

/// The batch can't be measured: the engine counts its estimate.
void lose_batch(Context& context, module::BatchId id);

/// Call before a context is destroyed: its batches can't be measured any more.
/// Their events die with the context, or, if it is a green one, may be the primary context's.
enum class Events { die, destroy };
void forget_batches(Context& context, Events events = Events::die);

}  // namespace cgpu::front
