#pragma once

#include "module/front/compute/launching.hpp"
#include "module/front/contexts/context_table.hpp"
#include "module/front/driver/captures.hpp"
#include "module/front/driver/real_driver.hpp"
#include "module/front/sizes/code_table.hpp"

namespace cgpu::front {

/// Launches that the engine has let through in advance, in one context by one thread: of one function on one
/// stream, or where nothing is measured of any that have been launched before. They need no further question
/// while the gate has said nothing new and no batch has been closed.
struct Run {
    const void* function = nullptr;
    const wire::Word* gate_seq = nullptr;
    std::uint32_t seq = 0;
    std::uint32_t changes = 0;  ///< context_changes when it began
    std::uint32_t free = 0;     ///< launches left that pass whichever context they are in: see takes_freely
    std::uint32_t more = 0;     ///< launches left besides
    Context* context = nullptr;
    CUcontext handle = nullptr;
    CUstream stream = nullptr;  ///< as the plain functions take it
    std::uint32_t closes = 0;   ///< ContextMeter::closes when it began
    bool per_thread_stream = false;
    module::BatchId batch = 0;  ///< what they belong to; 0: not metered

    /// Nothing is measured, and there is no context but this run's. Takes a launch that passes.
    [[gnu::always_inline]] bool takes_freely(const void* a_function) {
        if (free == 0 || !knows(a_function) || gate_seq->load(std::memory_order_relaxed) != seq ||
            context_changes.load(std::memory_order_relaxed) != changes)
            return false;
        --free;
        return true;
    }

    [[gnu::always_inline]] bool covers(const void* a_function, CUstream a_stream, CUcontext a_context) const {
        return more != 0 && is_for(a_function, a_stream) && !inside_driver() &&
               gate_seq->load(std::memory_order_relaxed) == seq && !captures_active() && is_in(a_context);
    }

    /// The thread's.
    static Run& mine();

  private:
    [[gnu::always_inline]] bool is_for(const void* a_function, CUstream a_stream) const {
        if (batch != 0) return function == a_function && stream == a_stream;
        return knows(a_function);
    }
    [[gnu::always_inline]] bool knows(const void* a_function) const {
        return function == a_function ||
               code_table().was_met(reinterpret_cast<std::uintptr_t>(a_function), context->key());
    }
    [[gnu::always_inline]] bool is_in(CUcontext a_context) const {
        if (a_context != nullptr) return a_context == handle;
        CUcontext current = nullptr;
        return real::cuCtxGetCurrent.unguarded(&current) == kSuccess && current == handle;
    }
};

namespace detail {
extern thread_local constinit Run this_run __attribute__((tls_model("initial-exec")));
}

inline Run& Run::mine() { return detail::this_run; }

}  // namespace cgpu::front
