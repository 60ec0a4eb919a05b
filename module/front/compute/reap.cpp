#include "module/front/compute/reap.hpp"

#include <algorithm>
#include <utility>

#include "module/front/compute/batch.hpp"
#include "module/front/compute/drain_demand.hpp"
#include "module/front/driver/context_scope.hpp"
#include "module/front/driver/real_driver.hpp"
#include "module/front/driver/relaxed_capture.hpp"
#include "module/front/session/session.hpp"

namespace cgpu::front {
namespace {

std::int64_t elapsed_ns(CUevent from, CUevent to, bool& ok) {
    float milliseconds = 0;
    ok = real::cuEventElapsedTime(&milliseconds, from, to) == kSuccess;
    return static_cast<std::int64_t>(static_cast<double>(milliseconds) * 1e6);
}

/// Only the thread that holds `reaping` calls this.
void report_reaped(Context& context, Batch* batch, std::int64_t now) {
    ContextBatches& batches = context.batches;
    bool base_ok = true;
    bool length_ok = true;
    const std::int64_t since_base =
        batches.base != nullptr ? elapsed_ns(batches.base, batch->start, base_ok) : 0;
    const std::int64_t length = elapsed_ns(batch->start, batch->end, length_ok);
    std::uint32_t ring = 0;
    if (!base_ok || !length_ok) {
        session().engine().lost(batch->id);
        return drop_batch(context, batch);
    }
    // Without a base any origin can be used: the offset cancels it.
    const std::int64_t start = (batches.base != nullptr ? batches.base_ns : now) + since_base;
    const std::int64_t end = start + length;
    const std::int64_t offset = batches.clock.offset_ns(now, end);
    session().engine().reaped(batch->id, start + offset, end + offset, now, &ring);
    if (ring != 0) session().pages().ring();

    std::swap(batches.base, batch->end);
    batches.base_ns = end;
    drop_batch(context, batch);
}

/// The same for a batch without a start event.
void report_estimated(Context& context, Batch* batch, std::int64_t now) {
    ContextBatches& batches = context.batches;
    std::int64_t end = now;
    bool ok = false;
    if (batches.base != nullptr) {
        const std::int64_t since_base = elapsed_ns(batches.base, batch->end, ok);
        end = batches.base_ns + since_base;
    }
    if (ok) end += batches.clock.offset_ns(now, end);
    std::uint32_t ring = 0;
    session().engine().estimated(batch->id, ok ? end : now, ok, now, &ring);
    if (ring != 0) session().pages().ring();
    drop_batch(context, batch);
}

/// True if the batch is done, either way.
bool reap_one(Context& context, CUcontext handle, module::BatchId id) {
    ContextBatches& batches = context.batches;
    batches.mutex.lock();
    Batch* batch = batches.find(id);
    const CUevent end = batch != nullptr ? batch->end : nullptr;
    const bool ends_with_wait = batch != nullptr && batch->ends_with_wait;
    batches.mutex.unlock();
    if (ends_with_wait) return false;
    const RelaxedCapture relaxed;
    const ContextScope current(handle);
    const CUresult state = end != nullptr && current.ok() ? real::cuEventQuery(end) : kInvalidValue;
    if (state == kNotReady) return false;
    if (state != kSuccess) {
        lose_batch(context, id);
        return true;
    }
    batches.mutex.lock();
    batch = batches.take(id);
    batches.mutex.unlock();
    if (batch == nullptr) return true;
    if (batch->start != nullptr)
        report_reaped(context, batch, now_ns());
    else
        report_estimated(context, batch, now_ns());
    return true;
}

}  // namespace

bool reap(Context& context) {
    const CUcontext handle = context.owner().handle.load();
    if (handle == nullptr || context.gpu < 0) return false;
    ContextBatches& batches = context.batches;
    if (batches.reaping.exchange(true)) return false;
    bool any = false;
    const auto gpu = static_cast<std::uint32_t>(context.gpu);
    module::BatchId next = 0;
    for (auto id = session().engine().oldest(gpu, context.key()); id != 0; id = next) {
        // Streams end out of order: an unfinished batch must not hide finished ones.
        next = session().engine().following(id);
        any = reap_one(context, handle, id) || any;
    }
    batches.reaping.store(false);
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

std::int64_t look_after_batches(std::int64_t now) {
    std::int64_t next = kNever;
    contexts().for_each(-1, [&](Context& context) {
        if (context.gpu < 0) return;
        const auto idle = idle_before_close(context.gpu);
        close_batches(context, kAnyStream, now - idle);
        close_overdue(context, now);
        record_late_ends(context, now);
        reap(context);
        const auto gpu = static_cast<std::uint32_t>(context.gpu);
        const auto ends = session().engine().poll_at(gpu, now);
        const auto soonest = awaits_drain(context.gpu) ? 0 : now + idle;
        if (ends != kNever) next = std::min(next, std::max(ends, soonest));
        module::OpenBatch open{};
        if (session().engine().next_open_batch(gpu, context.key(), kAnyStream, 0, &open))
            next = std::min(next, now + idle);
    });
    // An overdue batch is polled again after a time that doesn't use up the core.
    constexpr std::int64_t kOverdueStep = 100 * kMicrosecond;
    return next == kNever ? kNever : std::max(next, now_ns() + kOverdueStep);
}

}  // namespace cgpu::front
