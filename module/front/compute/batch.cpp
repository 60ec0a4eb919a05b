#include "module/front/compute/batch.hpp"

#include <sched.h>

#include <new>
#include <utility>

#include "module/front/compute/launching.hpp"
#include "module/front/contexts/event_pool.hpp"
#include "module/front/driver/captures.hpp"
#include "module/front/driver/context_scope.hpp"
#include "module/front/driver/real_driver.hpp"
#include "module/front/driver/relaxed_capture.hpp"
#include "module/front/session/session.hpp"

namespace cgpu::front {
namespace {

constexpr int kTriesPerRound = 64;
/// A launch that takes the driver longer is not waited for: its thread may have been cancelled in it.
constexpr std::int64_t kLaunchPatience = kSecond;
constexpr std::int64_t kUsualWait = 2 * kMillisecond;

/// Whether another thread may be launching into the batch: only then all threads have to be checked.
bool has_others(const Batch& batch) { return batch.shared || batch.opener != Launching::me(); }

/// In the current context. `note_idle`: whether the stream is idle matters. (A query of the legacy stream may
/// not tell of work in other streams that it waits for: see RunUp for how much that can matter.)
bool make_events_and_begin(Context& context, Batch& batch, bool note_idle) {
    batch.start = take_event(context);
    batch.end = take_event(context);
    const bool idle = note_idle && real::cuStreamQuery(batch.stream) == kSuccess;
    if (batch.start != nullptr && batch.end != nullptr &&
        real::cuEventRecord(batch.start, batch.stream) == kSuccess) {
        if (idle) batch.idle_ns = now_ns();
        return true;
    }
    put_event(context, batch.start);
    put_event(context, batch.end);
    batch.start = batch.end = nullptr;
    return false;
}

/// Records the start event. A stream takes events of its own context only, and beside green contexts that
/// may be another one than the current one. The driver knows which it takes: of the primary context and its
/// green ones NVIDIA's documentation says no more. So a green context is made current only if need be,
/// because it must not be current to two threads at a time.
bool begin_measuring(Context& context, Batch& batch, bool note_idle) {
    if (make_events_and_begin(context, batch, note_idle)) return true;
    if (!contexts().any_green()) return false;
    const ContextScope current(context.handle.load());
    return current.ok() && make_events_and_begin(context, batch, note_idle);
}

/// False: the stream takes no event. It may have joined a capture since its batch was opened, and an event
/// recorded there would become a part of the program's graph.
bool record(CUevent event, CUstream stream) {
    const RelaxedCapture relaxed;
    return event != nullptr && !is_capturing(stream) && real::cuEventRecord(event, stream) == kSuccess;
}

/// no: another thread has recorded it, or is doing so.
Closed record_end(Context& context, module::BatchId id, bool before_wait = false) {
    ContextBatches& batches = context.batches;
    batches.mutex.lock();
    Batch* batch = batches.find(id);
    const bool mine = batch != nullptr && !batch->closed;
    const bool estimated = mine && batch->start == nullptr;
    const bool ends_with_wait = estimated && before_wait;
    if (mine) {
        batch->closed = true;
        batch->ends_with_wait = ends_with_wait;
        batches.note_shared(*batch);
    }
    batches.mutex.unlock();
    if (!mine) return Closed::no;
    if (estimated && !ends_with_wait) batch->end = take_event(context);
    if (ends_with_wait || batch->owner_closes || record(batch->end, batch->stream)) {
        session().engine().closed(id, now_ns());
    } else {
        lose_batch(context, id);
    }
    return ends_with_wait ? Closed::by_wait : Closed::yes;
}

/// Whether to ask the driver if the stream is idle. While other batches run it hardly is, and the question
/// takes the launching thread time: only a launch that is measured by itself asks then.
bool may_be_idle(ContextBatches& batches, const Opening& opening) {
    if (!opening.one_kernel || captures_active()) return false;
    const Locked lock(batches.mutex);
    return batches.first == nullptr || opening.one_launch;
}

}  // namespace

// Opening.

bool open_batch(Context& context, module::BatchId id, const Opening& opening, bool& announce_locked) {
    const RelaxedCapture relaxed;
    ContextBatches& batches = context.batches;
    const bool estimated =
        !opening.owner_closes && !opening.one_launch && session().engine().may_estimate(id);
    auto* batch = new (std::nothrow)
        Batch{id, opening.stream, nullptr, nullptr, opening.owner_closes, Launching::me(), false};
    if (batch != nullptr && (estimated || begin_measuring(context, *batch, may_be_idle(batches, opening)))) {
        // Other threads can find the batch only from now on: the end event must not be recorded before the
        // start event.
        const Locked lock(batches.mutex);
        batch->announce_locked = announce_locked = batches.find_shared(opening.stream) != nullptr;
        if (batches.is_to_close(id)) {
            batch->close_ns = now_ns();
            batches.closes_of(id).fetch_add(1);  // so that this thread looks at it behind its launch
        }
        batch->next = batches.first;
        batches.first = batch;
        return true;
    }
    drop_batch(context, batch);
    session().engine().lost(id);
    return false;
}

void note_first_launch(Context& context, module::BatchId id, std::int64_t now) {
    context.batches.mutex.lock();
    const Batch* batch = context.batches.find(id);
    const std::int64_t run_up = batch != nullptr ? batch->run_up_ns(now) : 0;
    context.batches.mutex.unlock();
    if (run_up > 0) session().engine().first_launched(id, run_up, now);
}

bool takes_launch(Context& context, module::BatchId id, bool& announce_locked) {
    const Locked lock(context.batches.mutex);
    Batch* batch = context.batches.find(id);
    if (batch == nullptr || batch->close_ns != 0) return false;
    batch->shared = batch->shared || batch->opener != Launching::me();
    announce_locked = batch->announce_locked;
    return true;
}

void mark_end(Context& context, module::BatchId id) {
    context.batches.mutex.lock();
    Batch* batch = context.batches.find(id);
    const CUevent end = batch != nullptr && !batch->closed ? batch->end : nullptr;
    const CUstream stream = batch != nullptr ? batch->stream : nullptr;
    context.batches.mutex.unlock();
    if (end != nullptr) real::cuEventRecord(end, stream);
}

// Closing.

void note_last_launch(Context& context, module::BatchId id) {
    const Locked lock(context.batches.mutex);
    Batch* batch = context.batches.find(id);
    if (batch != nullptr && batch->close_ns == 0) batch->close_ns = now_ns();
}

Closed close_batch(Context& context, module::BatchId id, bool before_wait) {
    ContextBatches& batches = context.batches;
    const auto now = now_ns();
    batches.mutex.lock();
    Batch* batch = batches.find(id);
    const bool to_close = batch != nullptr && !batch->closed;
    if (to_close && batch->close_ns == 0) batch->close_ns = now;
    if (batch == nullptr) batches.close_once_open(id);
    batches.closes_of(id).fetch_add(1);
    const bool others = to_close && has_others(*batch);
    const bool announce_locked = to_close && batch->announce_locked;
    batches.mutex.unlock();
    if (!to_close || (others && Launching::anybody(id, announce_locked))) return Closed::no;
    return record_end(context, id, before_wait);
}

void close_left_over(Context& context, module::BatchId id) {
    context.batches.mutex.lock();
    const Batch* batch = context.batches.find(id);
    const bool left = batch != nullptr && batch->close_ns != 0 && !batch->closed;
    const bool others = left && has_others(*batch);
    const bool announce_locked = left && batch->announce_locked;
    context.batches.mutex.unlock();
    if (left && !(others && Launching::anybody(id, announce_locked))) record_end(context, id);
}

namespace {

constexpr std::uint64_t kNoStream = kAnyStream - 1;

/// Returns the batch that ends with the wait; 0: none.
module::BatchId close_each(Context& context, std::uint64_t stream, std::uint64_t waited_stream,
                           std::int64_t last_before_ns) {
    const CUcontext handle = context.owner().handle.load();
    if (handle == nullptr || context.gpu < 0) return 0;
    module::OpenBatch open{};
    module::BatchId by_wait = 0;
    module::BatchId left = 0;  // to its launching thread; once it comes again there are no others
    for (int tries = 0; tries < kTriesPerRound; ++tries) {
        if (!session().engine().next_open_batch(static_cast<std::uint32_t>(context.gpu), context.key(),
                                                stream, last_before_ns, &open) ||
            open.batch == left)
            break;
        const ContextScope current(handle);
        if (!current.ok()) {
            lose_batch(context, open.batch);  // destroyed past the hooks
            continue;
        }
        const bool before_wait = waited_stream == kAnyStream || waited_stream == open.stream;
        const Closed closed = close_batch(context, open.batch, before_wait);
        if (closed == Closed::by_wait) by_wait = open.batch;
        if (closed == Closed::no && left == 0) left = open.batch;
    }
    return by_wait;
}

}  // namespace

void close_batches(Context& context, std::uint64_t stream, std::int64_t last_before_ns) {
    close_each(context, stream, kNoStream, last_before_ns);
}

module::BatchId close_before_wait(Context& context, std::uint64_t stream, std::uint64_t waited_stream) {
    return close_each(context, stream, waited_stream, 0);
}

void close_overdue(Context& context, std::int64_t now) {
    ContextBatches& batches = context.batches;
    batches.mutex.lock();
    const Batch* found = batches.first;
    while (found != nullptr &&
           (found->closed || found->close_ns == 0 || now - found->close_ns < kLaunchPatience))
        found = found->next;
    const module::BatchId overdue = found != nullptr ? found->id : 0;
    batches.mutex.unlock();
    if (overdue == 0) return;
    const ContextScope current(context.owner().handle.load());
    if (current.ok()) record_end(context, overdue);
}

// Batches that end with a wait.

namespace {

/// Records the end event that was left out, so that the end doesn't depend on the waiting thread.
void record_end_after_all(Context& context, module::BatchId id) {
    ContextBatches& batches = context.batches;
    batches.mutex.lock();
    Batch* batch = batches.find(id);
    const bool lacks_end = batch != nullptr && batch->ends_with_wait && !batch->recording;
    const CUstream stream = lacks_end ? batch->stream : nullptr;
    if (lacks_end) batch->recording = true;
    batches.mutex.unlock();
    if (!lacks_end) return;
    CUevent end = take_event(context);
    const bool recorded = record(end, stream);
    if (recorded) session().engine().closed(id, now_ns());  // once more: its end counts from now
    batches.mutex.lock();
    batch = batches.find(id);
    if (batch != nullptr) {
        batch->recording = false;
        batch->ends_with_wait = batch->ends_with_wait && !recorded;
        if (recorded) std::swap(batch->end, end);
    }
    batches.mutex.unlock();
    put_event(context, end);
    if (!recorded) lose_batch(context, id);
}

/// Takes the batch out, if it still ends with the wait. If another thread is recording its end on the stream,
/// waits for that: when the wait has returned, the program may destroy the stream.
Batch* take_waited(ContextBatches& batches, module::BatchId id) {
    while (true) {
        batches.mutex.lock();
        const Batch* found = batches.find(id);
        const bool recording = found != nullptr && found->recording;
        Batch* batch = found != nullptr && found->ends_with_wait && !recording ? batches.take(id) : nullptr;
        batches.mutex.unlock();
        if (!recording) return batch;
        sched_yield();
    }
}

}  // namespace

void end_by_wait(Context& context, module::BatchId id, bool done) {
    if (!done) return record_end_after_all(context, id);
    Batch* batch = take_waited(context.batches, id);
    if (batch == nullptr) return;
    const auto now = now_ns();
    std::uint32_t ring = 0;
    session().engine().estimated(id, now, false, now, &ring);
    if (ring != 0) session().pages().ring();
    drop_batch(context, batch);
}

void record_late_ends(Context& context, std::int64_t now) {
    ContextBatches& batches = context.batches;
    batches.mutex.lock();
    const Batch* late = batches.first;
    while (late != nullptr && (!late->ends_with_wait || now - late->close_ns < kUsualWait)) late = late->next;
    const module::BatchId id = late != nullptr ? late->id : 0;
    batches.mutex.unlock();
    if (id == 0) return;
    const ContextScope current(context.owner().handle.load());
    if (current.ok()) record_end_after_all(context, id);
}

// Removal.

void drop_batch(Context& context, Batch* batch) {
    if (batch == nullptr) return;
    put_event(context, batch->start);
    put_event(context, batch->end);
    delete batch;
}

void lose_batch(Context& context, module::BatchId id) {
    context.batches.mutex.lock();
    Batch* batch = context.batches.take(id);
    context.batches.mutex.unlock();
    drop_batch(context, batch);
    session().engine().lost(id);
}

void forget_batches(Context& context, Events events) {
    ContextBatches& batches = context.batches;
    const auto forget = [events](CUevent event) {
        if (events == Events::destroy && event != nullptr) real::cuEventDestroy_v2(event);
    };
    batches.mutex.lock();
    Batch* batch = batches.first;
    batches.first = nullptr;
    const CUevent base = batches.base;
    batches.pooled = 0;
    batches.base = nullptr;
    batches.clock = GpuClock{};
    batches.mutex.unlock();
    for (auto& closes : batches.closes) closes.fetch_add(1);
    while (batch != nullptr) {
        Batch* next = batch->next;
        session().engine().lost(batch->id);
        forget(batch->start);
        forget(batch->end);
        delete batch;
        batch = next;
    }
    forget(base);
}

}  // namespace cgpu::front
