#pragma once

#include "module/front/compute/first_launch.hpp"
#include "module/front/compute/meter.hpp"
#include "module/front/compute/run.hpp"
#include "module/front/contexts/context_table.hpp"
#include "module/front/driver/stream_key.hpp"
#include "module/front/session/session.hpp"

/// The one way for work to the GPU: every launch of every kind passes `gated`.
namespace cgpu::front {

/// A launch as the hooks describe it.
struct Work {
    const void* function;  ///< a CUfunction, CUkernel or CUgraphExec: what has a usual length
    CUstream stream;       ///< as the plain functions take it: null or 1 legacy, 2 per-thread
    CUcontext context;     ///< null: the current one
};

namespace detail {

/// A launch that may go on: how it is metered. Filled by pass_gate, finished by after_launch.
struct Pass {
    Context* context = nullptr;  ///< null: ungated
    module::BatchId batch = 0;
    module::BatchId close = 0;
    std::uint32_t closes = 0;  ///< ContextMeter::closes before it was asked
    bool per_thread_stream = false;
    FirstLaunch first;
};

/// Waits until the launch may pass. Not kSuccess: it may not at all.
CUresult pass_gate(const Work& work, Pass& pass);
void after_launch(const Pass& pass, bool launched);
/// Behind a launch that the driver refused, or that was on a per-thread stream.
void note_odd_launch(Context& context, module::BatchId batch, bool per_thread_stream, bool launched);

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

template <class Call>
CUresult gated(const Work& work, Call call) {
    if (Run& run = Run::mine(); run.covers(work.function, work.stream, work.context)) {
        // What the run was: a launch on several devices begins others within its call.
        Context& context = *run.context;
        const auto batch = run.batch;
        const auto closes = run.closes;
        const bool per_thread_stream = run.per_thread_stream;
        if (batch != 0) Launching::begin(batch);
        if (context.meter.closes.load() == closes) [[likely]] {
            --run.more;
            const CUresult result = call();
            if (batch == 0) return result;
            if (result != kSuccess || per_thread_stream) [[unlikely]]
                detail::note_odd_launch(context, batch, per_thread_stream, result == kSuccess);
            Launching::end();
            if (context.meter.closes.load() != closes) [[unlikely]]
                close_left_over(context, batch);
            return result;
        }
        Launching::end();
        close_left_over(context, batch);
    }
    return detail::gated_slowly(work, call);
}

/// Around a call that waits for the GPU: batches that it waits for are closed before and reaped after it.
template <class Call>
CUresult synchronised(CUstream stream, bool whole_context, Call call);

/// The forked child's thread has no launches in hand.
void reset_gate_in_child();

namespace detail {
Context* begin_sync(CUstream stream, bool whole_context);
void end_sync(Context& context);
}  // namespace detail

template <class Call>
CUresult synchronised(CUstream stream, bool whole_context, Call call) {
    if (session().route() != Route::managed) return call();
    Context* context = detail::begin_sync(stream, whole_context);
    const CUresult result = call();
    if (context != nullptr) detail::end_sync(*context);
    return result;
}

/// Before something that must not lie inside a batch: host functions, the start of a capture, the stream's
/// end.
void close_stream(CUstream stream);

}  // namespace cgpu::front
