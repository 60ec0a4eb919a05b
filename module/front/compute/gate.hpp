#pragma once

#include "module/front/compute/batch.hpp"
#include "module/front/compute/first_launch.hpp"
#include "module/front/compute/thread_grant.hpp"
#include "module/front/contexts/context_table.hpp"
#include "module/front/driver/stream_key.hpp"
#include "module/front/session/session.hpp"

/// The only way for work to the GPU: every launch of every kind goes through `gated`.
namespace cgpu::front {

namespace detail {

/// How a launch that may pass is metered. Filled by pass_gate, finished by after_launch.
struct Pass {
    Context* context = nullptr;  ///< null: ungated
    module::BatchId batch = 0;
    module::BatchId close = 0;
    std::uint32_t closes = 0;  ///< ContextBatches::closes_of(batch) before the batch took it
    bool per_thread_stream = false;
    bool announce_locked = false;  ///< see Launching
    std::int64_t cost_ns = 0;      ///< the launch's cost in the batch
    bool opened = false;           ///< the batch was opened for this launch
    FirstLaunch first;
};

/// Waits until the launch may pass. Not kSuccess: it may not pass at all.
CUresult pass_gate(const Work& work, Pass& pass);
void after_launch(const Pass& pass, bool launched);
/// A launch that the driver has refused.
void return_launch(Context& context, module::BatchId batch, std::int64_t cost_ns);

template <class Call>
[[gnu::always_inline]] inline CUresult gated_slowly(const Work& work, Call& call) {
    switch (session().route()) {
        case Route::pass:
            return call();
        case Route::broken:
            return kSystemNotReady;
        case Route::managed:
            break;
    }
    Pass pass;
    if (const CUresult refused = pass_gate(work, pass); refused != kSuccess) return refused;
    const CUresult result = call();
    if (pass.context != nullptr) after_launch(pass, result == kSuccess);
    return result;
}

}  // namespace detail

/// A launch: waits at the gate if it must, and is metered if that is due.
template <class Call>
CUresult gated(const Work& work, Call call) {
    ThreadGrant& grant = ThreadGrant::mine();
    if (FunctionCost* cost = grant.covers(work)) {
        // Copied, because a launch on several devices begins others within its call.
        Context& context = *grant.context;
        const auto batch = grant.batch;
        const auto closes = grant.closes;
        const bool per_thread_stream = grant.per_thread_stream;
        const bool announce_locked = grant.announce_locked;
        const std::int64_t cost_ns = cost->cost_ns;
        const auto& closes_now = context.batches.closes_of(batch);
        Launching::begin(batch, announce_locked);
        if (closes_now.load() == closes) [[likely]] {
            grant.take(*cost);
            const CUresult result = call();
            if (result != kSuccess) [[unlikely]]
                detail::return_launch(context, batch, cost_ns);
            if (per_thread_stream) [[unlikely]]
                mark_end(context, batch);
            Launching::end(announce_locked);
            if (closes_now.load() != closes) [[unlikely]]
                close_left_over(context, batch);
            return result;
        }
        Launching::end(announce_locked);
        close_left_over(context, batch);
    } else if (grant.takes_freely(work.function) || grant.takes_unmetered(work)) {
        return call();
    }
    return detail::gated_slowly(work, call);
}

/// What a call of the driver waits for.
enum class Waits {
    stream,   ///< it returns success when all earlier work of the stream has ended
    context,  ///< the same of all work of the current context
    perhaps,  ///< work of the current context, but which isn't known
};

/// Around such a call: batches that it waits for are closed before it and reaped after it.
template <class Call>
CUresult synchronised(Waits waits, CUstream stream, Call call);

/// The forked child's thread has no launches under way.
void reset_gate_in_child();

namespace detail {
/// A wait under way.
struct Waited {
    Context* context = nullptr;  ///< null: nothing is to be done about it
    module::BatchId batch = 0;   ///< see close_before_wait
};
Waited begin_sync(Waits waits, CUstream stream);
void end_sync(const Waited& waited, bool done);
}  // namespace detail

template <class Call>
CUresult synchronised(Waits waits, CUstream stream, Call call) {
    if (session().route() != Route::managed) return call();
    const detail::Waited waited = detail::begin_sync(waits, stream);
    const CUresult result = call();
    if (waited.context != nullptr) detail::end_sync(waited, result == kSuccess);
    return result;
}

/// Call before an operation that must not be inside a batch: host functions, the start of a capture.
void close_stream(CUstream stream);

/// Call before the stream is destroyed. If another thread is recording the end of a batch on it, waits for
/// that.
void close_destroyed_stream(CUstream stream);

}  // namespace cgpu::front
