#pragma once

#include "module/front/compute/function_costs.hpp"
#include "module/front/compute/launching.hpp"
#include "module/front/contexts/context_table.hpp"
#include "module/front/contexts/launch_changes.hpp"
#include "module/front/driver/captures.hpp"
#include "module/front/driver/real_driver.hpp"
#include "module/front/sizes/code_table.hpp"

namespace cgpu::front {

/// A launch as the hooks describe it.
struct Work {
    const void* function;  ///< a CUfunction, CUkernel or CUgraphExec: what has a usual length
    CUstream stream;       ///< as the plain functions take it: null or 1 legacy, 2 per-thread
    CUcontext context;     ///< null: the current one
    /// It is one kernel, which the GPU gets at the end of the driver's call. Of graphs the GPU may get a part
    /// before; copies may have ended then.
    bool one_kernel = false;
};

/// What the engine has granted a thread in advance: launches on one stream of one context that may take this
/// much GPU time together or, under a free gate, launches of any kind. They need no further question as long
/// as the gate hasn't changed. Each thread has one grant; the rest of it is returned with the next question.
struct ThreadGrant {
    std::uint32_t free = 0;     ///< launches left that pass in any context: see takes_freely
    std::uint32_t left = 0;     ///< other launches left
    std::uint32_t seq = 0;      ///< of the gate, when it was given
    std::uint32_t changes = 0;  ///< launch_changes then
    const wire::Word* gate_seq = nullptr;
    std::int64_t time_ns = 0;  ///< time left
    Context* context = nullptr;
    CUcontext handle = nullptr;
    CUstream stream = nullptr;  ///< as the plain functions take it
    module::BatchId batch = 0;  ///< the batch of the launches; 0: they are not metered
    std::uint32_t closes = 0;   ///< ContextBatches::closes_of(batch), when the batch took a launch last
    bool any_function = false;  ///< also functions that were asked about for another batch
    bool per_thread_stream = false;
    bool announce_locked = false;    ///< see Launching
    std::uint64_t salt = 0;          ///< CodeTable::salt of the context
    FunctionCosts* costs = nullptr;  ///< of the thread, while it has a slot; null: no launch is covered

    /// Used if nothing is measured, and there is no context but this grant's. Takes a launch that passes.
    /// Without the look-up of the current context such a launch costs 0.9 ns more than the driver's own
    /// instead of 4.7 (bench/launch, unmetered).
    [[gnu::always_inline]] bool takes_freely(const void* function) {
        if (free == 0 || !was_met(function) || !in_force()) return false;
        --free;
        return true;
    }

    /// The same if the thread's context matters.
    [[gnu::always_inline]] bool takes_unmetered(const Work& work) {
        if (left == 0 || batch != 0 || !was_met(work.function) || !in_force() || inside_driver() ||
            !is_in(work.context))
            return false;
        --left;
        return true;
    }

    /// The cost entry of a metered launch that the grant covers, else null. Takes nothing.
    [[gnu::always_inline]] FunctionCost* covers(const Work& work) const {
        if (left == 0 || work.stream != stream || costs == nullptr || detail::this_thread.slot == nullptr)
            return nullptr;
        FunctionCost* cost = costs->find(mark_of(work.function));
        if (cost == nullptr || cost->left == 0 || cost->cost_ns > time_ns) return nullptr;
        if (!any_function && cost->batch != batch) return nullptr;
        if (!in_force() || captures_active() || inside_driver() || !is_in(work.context)) return nullptr;
        return cost;
    }
    [[gnu::always_inline]] void take(FunctionCost& cost) {
        --left;
        --cost.left;
        time_ns -= cost.cost_ns;
    }

    /// Returns the rest.
    void end();

    /// The thread's grant.
    static ThreadGrant& mine();

  private:
    /// Not in a copy of the process, either: see LaunchChanges.
    [[gnu::always_inline]] bool in_force() const {
        return gate_seq->load(std::memory_order_relaxed) == seq &&
               launch_changes.load(std::memory_order_relaxed) == changes;
    }
    [[gnu::always_inline]] std::uint64_t mark_of(const void* function) const {
        return CodeTable::mark_salted(reinterpret_cast<std::uintptr_t>(function), salt);
    }
    [[gnu::always_inline]] bool was_met(const void* function) const {
        return code_table().was_met(mark_of(function));
    }
    [[gnu::always_inline]] bool is_in(CUcontext a_context) const {
        if (a_context != nullptr) return a_context == handle;
        CUcontext current = nullptr;
        return real::cuCtxGetCurrent.unguarded(&current) == kSuccess && current == handle;
    }
};

namespace detail {
extern thread_local constinit ThreadGrant this_grant __attribute__((tls_model("initial-exec")));
}

inline ThreadGrant& ThreadGrant::mine() { return detail::this_grant; }

}  // namespace cgpu::front
