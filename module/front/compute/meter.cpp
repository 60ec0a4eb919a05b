#include "module/front/compute/meter.hpp"

#include <algorithm>
#include <new>

#include "module/front/compute/drain_demand.hpp"
#include "module/front/compute/launching.hpp"
#include "module/front/contexts/event_pool.hpp"
#include "module/front/driver/captures.hpp"
#include "module/front/driver/context_scope.hpp"
#include "module/front/driver/real_driver.hpp"
#include "module/front/driver/relaxed_capture.hpp"
#include "module/front/session/session.hpp"

// Two clocks. Events give differences in float milliseconds: exact to half a microsecond only while the
// difference is some seconds. So the context has a base event whose GPU time is kept in 64-bit nanoseconds,
// and each reaped batch's end event becomes the new base. The way from GPU time to CLOCK_MONOTONIC is the
// smallest "seen by the host - ended on the GPU" of the last one to two seconds: the host always looks late,
// and clocks drift. But slowly: what was seen very late after a while without looking (the process was
// stopped) must not pass for drift.

namespace cgpu::front {
namespace {

constexpr std::int64_t kOffsetWindow = kSecond;
/// Clocks of a GPU and its host part by no more than 200 millionths of the time.
constexpr std::int64_t kDriftOne = 5000;
constexpr std::int64_t kIdleBeforeClose = kMillisecond;
constexpr int kTriesPerRound = 64;
/// A launch that takes the driver longer is not waited for: its thread may have been cancelled in it.
constexpr std::int64_t kLaunchPatience = kSecond;

/// Unlinks a batch; null where it isn't there. The meter's mutex is held.
Batch* take_batch(ContextMeter& meter, module::BatchId id) {
    for (Batch** place = &meter.batches; *place != nullptr; place = &(*place)->next) {
        if ((*place)->id != id) continue;
        Batch* found = *place;
        *place = found->next;
        return found;
    }
    return nullptr;
}

Batch* find_batch(ContextMeter& meter, module::BatchId id) {
    for (Batch* each = meter.batches; each != nullptr; each = each->next) {
        if (each->id == id) return each;
    }
    return nullptr;
}

void drop(Context& context, Batch* batch) {
    if (batch == nullptr) return;
    put_event(context, batch->start);
    put_event(context, batch->end);
    delete batch;
}

void lose(Context& context, module::BatchId id) {
    context.meter.mutex.lock();
    Batch* batch = take_batch(context.meter, id);
    context.meter.mutex.unlock();
    drop(context, batch);
    session().engine().lost(id);
}

std::int64_t elapsed_ns(CUevent from, CUevent to, bool& ok) {
    float milliseconds = 0;
    ok = real::cuEventElapsedTime(&milliseconds, from, to) == kSuccess;
    return static_cast<std::int64_t>(static_cast<double>(milliseconds) * 1e6);
}

/// What to add to a time on the GPU's clock. The host has seen now what ended there at `end`.
std::int64_t offset_now(ContextMeter& meter, std::int64_t now, std::int64_t end) {
    if (now - meter.window_start_ns > kOffsetWindow) {
        const bool long_ago = now - meter.window_start_ns > 2 * kOffsetWindow;
        meter.offset_ns[1] = long_ago ? INT64_MAX : meter.offset_ns[0];
        meter.offset_ns[0] = INT64_MAX;
        meter.window_start_ns = now;
    }
    meter.offset_ns[0] = std::min(meter.offset_ns[0], now - end);
    auto offset = std::min(meter.offset_ns[0], meter.offset_ns[1]);
    if (meter.base != nullptr)
        offset = std::min(offset, meter.last_offset_ns + (now - meter.last_seen_ns) / kDriftOne);
    meter.last_offset_ns = offset;
    meter.last_seen_ns = now;
    return offset;
}

/// Whether another thread than this one may be launching into it: only then all have to be looked at.
bool has_others(const Batch& batch) { return batch.shared || batch.opener != Launching::me(); }

/// False: somebody else has, or is doing it.
bool record_end(Context& context, module::BatchId id) {
    ContextMeter& meter = context.meter;
    meter.mutex.lock();
    Batch* batch = find_batch(meter, id);
    const bool mine = batch != nullptr && !batch->closed;
    if (mine) batch->closed = true;
    meter.mutex.unlock();
    if (!mine) return false;
    if (batch->owner_closes) {
        session().engine().closed(id, now_ns());
        return true;
    }
    // A stream may have joined a capture since: an event recorded there would become a part of the program's
    // graph.
    const RelaxedCapture relaxed;
    if (is_capturing(batch->stream) || real::cuEventRecord(batch->end, batch->stream) != kSuccess) {
        lose(context, id);
    } else {
        session().engine().closed(id, now_ns());
    }
    return true;
}

/// Only the thread that holds `reaping` comes here.
void report_reaped(Context& context, Batch* batch, std::int64_t now) {
    ContextMeter& meter = context.meter;
    bool base_ok = true;
    bool length_ok = true;
    if (meter.base == nullptr) meter.base_ns = now;  // any origin will do: the offset takes it out
    const std::int64_t since_base = meter.base != nullptr ? elapsed_ns(meter.base, batch->start, base_ok) : 0;
    const std::int64_t length = elapsed_ns(batch->start, batch->end, length_ok);
    std::uint32_t ring = 0;
    if (!base_ok || !length_ok) {
        session().engine().lost(batch->id);
        return drop(context, batch);
    }
    const std::int64_t start = meter.base_ns + since_base;
    const std::int64_t end = start + length;

    const std::int64_t offset = offset_now(meter, now, end);
    session().engine().reaped(batch->id, start + offset, end + offset, now, &ring);
    if (ring != 0) session().pages().ring();

    std::swap(meter.base, batch->end);
    meter.base_ns = end;
    drop(context, batch);
}

/// True where the batch is done, one way or the other.
bool reap_one(Context& context, CUcontext handle, module::BatchId id) {
    ContextMeter& meter = context.meter;
    meter.mutex.lock();
    Batch* batch = find_batch(meter, id);
    const CUevent end = batch != nullptr ? batch->end : nullptr;
    meter.mutex.unlock();
    const RelaxedCapture relaxed;
    const CurrentContext current(handle);
    const CUresult state = end != nullptr && current.ok() ? real::cuEventQuery(end) : kInvalidValue;
    if (state == kNotReady) return false;
    if (state != kSuccess) {
        lose(context, id);
        return true;
    }
    meter.mutex.lock();
    batch = take_batch(meter, id);
    meter.mutex.unlock();
    if (batch != nullptr) report_reaped(context, batch, now_ns());
    return true;
}

/// Ends one that waits too long for the launch of a thread: that may never come back from the driver.
void close_overdue(Context& context, std::int64_t now) {
    ContextMeter& meter = context.meter;
    meter.mutex.lock();
    const Batch* found = meter.batches;
    while (found != nullptr &&
           (found->closed || found->close_ns == 0 || now - found->close_ns < kLaunchPatience))
        found = found->next;
    const module::BatchId overdue = found != nullptr ? found->id : 0;
    meter.mutex.unlock();
    if (overdue == 0) return;
    const CurrentContext current(context.handle.load());
    if (current.ok()) record_end(context, overdue);
}

}  // namespace

bool open_batch(Context& context, module::BatchId id, CUstream stream, bool owner_closes) {
    const RelaxedCapture relaxed;
    auto* batch = new (std::nothrow) Batch{id, stream, nullptr, nullptr, owner_closes, Launching::me()};
    if (batch != nullptr) {
        batch->start = take_event(context);
        batch->end = take_event(context);
        if (batch->start != nullptr && batch->end != nullptr &&
            real::cuEventRecord(batch->start, stream) == kSuccess) {
            // Only now can others find it: an end event must not be recorded before the start event.
            const Locked lock(context.meter.mutex);
            batch->next = context.meter.batches;
            context.meter.batches = batch;
            return true;
        }
    }
    drop(context, batch);
    session().engine().lost(id);
    return false;
}

bool takes_launch(Context& context, module::BatchId id) {
    const Locked lock(context.meter.mutex);
    Batch* batch = find_batch(context.meter, id);
    if (batch == nullptr || batch->close_ns != 0) return false;
    batch->shared = batch->shared || batch->opener != Launching::me();
    return true;
}

void mark_end(Context& context, module::BatchId id) {
    context.meter.mutex.lock();
    Batch* batch = find_batch(context.meter, id);
    const CUevent end = batch != nullptr && !batch->closed ? batch->end : nullptr;
    const CUstream stream = batch != nullptr ? batch->stream : nullptr;
    context.meter.mutex.unlock();
    if (end != nullptr) real::cuEventRecord(end, stream);
}

bool close_batch(Context& context, module::BatchId id) {
    ContextMeter& meter = context.meter;
    const auto now = now_ns();
    meter.mutex.lock();
    Batch* batch = find_batch(meter, id);
    const bool to_close = batch != nullptr && !batch->closed;
    if (to_close && batch->close_ns == 0) batch->close_ns = now;
    meter.closes.fetch_add(1);
    const bool others = to_close && has_others(*batch);
    meter.mutex.unlock();
    if (!to_close || (others && Launching::anybody(id))) return false;
    return record_end(context, id);
}

void note_last_launch(Context& context, module::BatchId id) {
    const Locked lock(context.meter.mutex);
    Batch* batch = find_batch(context.meter, id);
    if (batch != nullptr && batch->close_ns == 0) batch->close_ns = now_ns();
}

void close_left_over(Context& context, module::BatchId id) {
    context.meter.mutex.lock();
    const Batch* batch = find_batch(context.meter, id);
    const bool left = batch != nullptr && batch->close_ns != 0 && !batch->closed;
    const bool others = left && has_others(*batch);
    context.meter.mutex.unlock();
    if (left && !(others && Launching::anybody(id))) record_end(context, id);
}

void close_batches(Context& context, std::uint64_t stream, std::int64_t last_before_ns) {
    const CUcontext handle = context.handle.load();
    if (handle == nullptr || context.gpu < 0) return;
    module::OpenBatch open{};
    module::BatchId left = 0;  // to its launching thread; once it comes again there are no others
    for (int tries = 0; tries < kTriesPerRound; ++tries) {
        if (!session().engine().next_open_batch(static_cast<std::uint32_t>(context.gpu), context.key(),
                                                stream, last_before_ns, &open)) {
            return;
        }
        if (open.batch == left) return;
        const CurrentContext current(handle);
        if (current.ok()) {
            if (!close_batch(context, open.batch) && left == 0) left = open.batch;
        } else {
            lose(context, open.batch);  // destroyed past the hooks
        }
    }
}

bool reap(Context& context) {
    const CUcontext handle = context.handle.load();
    if (handle == nullptr || context.gpu < 0) return false;
    ContextMeter& meter = context.meter;
    if (meter.reaping.exchange(true)) return false;
    bool any = false;
    const auto gpu = static_cast<std::uint32_t>(context.gpu);
    module::BatchId next = 0;
    for (auto id = session().engine().oldest(gpu, context.key()); id != 0; id = next) {
        // Streams end out of order: what isn't done must not hide what is.
        next = session().engine().following(id);
        any = reap_one(context, handle, id) || any;
    }
    meter.reaping.store(false);
    return any;
}

bool settle(int gpu) {
    bool any = false;
    contexts().for_each(gpu, [&](Context& context) {
        close_batches(context, kAnyStream);
        any = reap(context) || any;
    });
    return any;
}

void forget_batches(Context& context) {
    ContextMeter& meter = context.meter;
    meter.mutex.lock();
    Batch* batch = meter.batches;
    meter.batches = nullptr;
    meter.pooled = 0;  // the events die with the context
    meter.base = nullptr;
    meter.window_start_ns = 0;
    meter.mutex.unlock();
    meter.closes.fetch_add(1);
    while (batch != nullptr) {
        Batch* next = batch->next;
        session().engine().lost(batch->id);
        delete batch;
        batch = next;
    }
}

std::int64_t look_after_batches(std::int64_t now) {
    std::int64_t next = kNever;
    bool open_ones = false;
    contexts().for_each(-1, [&](Context& context) {
        if (context.gpu < 0) return;
        close_batches(context, kAnyStream, now - kIdleBeforeClose);
        close_overdue(context, now);
        reap(context);
        const auto gpu = static_cast<std::uint32_t>(context.gpu);
        const auto ends = session().engine().poll_at(gpu, now);
        const auto soonest = awaits_drain(context.gpu) ? 0 : now + kIdleBeforeClose;
        if (ends != kNever) next = std::min(next, std::max(ends, soonest));
        module::OpenBatch open{};
        open_ones = open_ones || session().engine().next_open_batch(gpu, context.key(), kAnyStream, 0, &open);
    });
    if (open_ones) next = std::min(next, now + kIdleBeforeClose);
    // What should have ended but hasn't is looked at again after a while that doesn't eat the core.
    constexpr std::int64_t kOverdueStep = 100 * kMicrosecond;
    return next == kNever ? kNever : std::max(next, now_ns() + kOverdueStep);
}

}  // namespace cgpu::front
