#pragma once

#include <algorithm>
#include <cstdint>

#include "module/engine/compute/batches.hpp"
#include "module/engine/compute/lengths/functions.hpp"
#include "module/engine/compute/lengths/sampling.hpp"

namespace cgpu::module {

/// How long a batch took on the GPU.
struct BatchTime {
    std::int64_t busy_ns;    ///< without idle time, as far as known
    std::int64_t span_ns;    ///< from its start to its end, without idle time at its end
    std::int64_t whole_ns;   ///< from its start event to its end event, without ...
    std::int64_t run_up_ns;  ///< ... the time between the start event and its first kernel
    std::int64_t end_ns;
    bool drained;  ///< at most one launch of it was left when its end was recorded: the GPU may have been
                   ///< idle within it, unnoticed
};

constexpr std::int64_t kLongCalls = 20'000;  // ns: more than the calls around a launch take

/// What learns from batches.
struct Learners {
    Functions& functions;
    OverlapScale& overlap;
    Sampling& sampling;
};

/// A batch that other work ran beside. Where it would have ended without idle time is computed from the
/// estimates, so only the time from event to event is an upper bound.
inline void learn_beside(const Batch& batch, const BatchTime& time, const Learners& to) {
    if (batch.function_count == 1)
        to.functions.learn_roughly(batch.last_function, time.whole_ns / batch.launches,
                                   batch.waits_across_gpus && !batch.gap);
    const bool shows_pace = time.drained && batch.launches > 1;
    if (batch.foreign || batch.unmeasured || batch.gap || shows_pace)
        to.overlap.leave_out(time.end_ns);
    else
        to.overlap.learn({time.busy_ns, batch.estimate_ns, batch.first_ns, time.end_ns});
}

/// A launch that was measured by itself. If the GPU was idle, the time from the start event to the end event
/// contains that between two calls of the driver, before the kernel. And if the end event was recorded after
/// the kernel had ended, the GPU has waited for it: then the time only says what the kernel takes at most.
inline void learn_alone(const Batch& batch, const BatchTime& time, const Learners& to) {
    constexpr std::int64_t kEvent = 1000;  // ns: what an event takes
    const std::int64_t calls = batch.closed_ns - batch.first_ns;
    const bool interrupted = calls > kLongCalls;
    const bool unknown = batch.found_idle && batch.run_up_ns == 0;
    const std::int64_t before = unknown && !interrupted ? std::min(calls, time.whole_ns) / 2 : 0;
    const std::int64_t most = time.whole_ns - before;
    const bool waited_for_event = interrupted || time.whole_ns + time.run_up_ns <= calls + kEvent;
    const bool says_nothing = waited_for_event && most >= batch.estimate_ns && !batch.unmeasured;
    if (says_nothing) to.functions.not_refuted(batch.last_function);
    const auto change =
        says_nothing ? Functions::Change::none : to.functions.learn(batch.last_function, most);
    if (to.sampling.sampled(change)) to.functions.doubt_all();
}

/// Corrects the estimates of the functions in the batch.
inline void learn_from(const Batch& batch, const BatchTime& time, const Learners& to) {
    if (batch.launches == 0) return;
    const bool stayed_open = batch.closed_ns - batch.first_ns > kLongCalls;
    if (batch.launches > 1 || stayed_open) to.sampling.batch_ended(time.drained);
    if (batch.overlapped || batch.foreign) return learn_beside(batch, time, to);
    if (batch.launches == 1) return learn_alone(batch, time, to);
    // Otherwise the pace of a program that launches more slowly than the GPU works would be taken for the
    // length of its kernels, and no idle time would be found from then on.
    if (time.drained && time.whole_ns > batch.estimate_ns) return;
    if (time.drained && Functions::much_less(time.whole_ns, batch.estimate_ns, batch.launches))
        to.functions.doubt_all();
    if (batch.function_count == 1) {
        if (!batch.gap) to.functions.learn(batch.last_function, time.busy_ns / batch.launches);
        return;
    }
    for (std::uint32_t i = 0; i < batch.function_count; ++i)
        to.functions.correct(batch.functions[i], time.busy_ns, batch.estimate_ns);
}

}  // namespace cgpu::module
