#pragma once

#include <cstdint>

#include "module/engine/compute/batches.hpp"
#include "module/engine/compute/functions.hpp"

namespace cgpu::module {

/// How long a batch took on the GPU.
struct BatchTime {
    std::int64_t busy_ns;  ///< without idle time, as far as known
    std::int64_t span_ns;  ///< from its start to its end
    bool drained;  ///< nothing of it was left when its end was recorded: the GPU may have been idle within
                   ///< it, unnoticed
};

/// Corrects the estimates of the functions in the batch.
inline void learn_from(const Batch& batch, const BatchTime& time, Functions& functions,
                       OverlapScale& overlap) {
    if (batch.launches == 0) return;
    if (batch.overlapped || batch.foreign) {
        if (batch.function_count == 1)
            functions.learn_roughly(batch.last_function, time.span_ns / batch.launches,
                                    batch.waits_across_gpus && !batch.gap);
        if (!batch.foreign && !batch.unmeasured && !batch.gap) overlap.learn(time.busy_ns, batch.estimate_ns);
    } else if (batch.function_count > 1) {
        // Otherwise the pace of a program that launches more slowly than the GPU works would be taken for the
        // length of its kernels, and no idle time would be found from then on.
        if (time.drained && time.busy_ns > batch.estimate_ns) return;
        for (std::uint32_t i = 0; i < batch.function_count; ++i)
            functions.correct(batch.functions[i], time.busy_ns, batch.estimate_ns);
    } else if (!batch.gap) {
        functions.learn(batch.last_function, time.busy_ns / batch.launches);
    }
}

}  // namespace cgpu::module
