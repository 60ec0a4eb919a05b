#pragma once

#include <atomic>
#include <cstdint>

#include "module/engine/abi/api.hpp"
#include "module/front/base/waiting.hpp"
#include "module/front/contexts/context_batches.hpp"
#include "module/front/contexts/set_aside_memory.hpp"
#include "module/front/driver/cuda_abi.hpp"

namespace cgpu::front {

/// A context of the process. Never freed, but used again for other contexts: a pointer to it is always valid.
/// So a thread that searches the table without a pin may read what another one fills in: that is atomic.
struct Context {
    /// Bytes of local memory for each thread that a context has from its beginning: a stack of the standard
    /// limit (CU_LIMIT_STACK_SIZE). As measured on an H100: docs/gpu-results.md.
    static constexpr std::uint64_t kStandardStack = 1024;

    std::atomic<CUcontext> handle{nullptr};
    std::atomic<int> gpu{-1};
    std::atomic<bool> primary{false};
    std::atomic<int> uses{1};  ///< by cuCtxAttach and cuCtxDetach
    std::atomic<bool> dying{false};
    std::atomic<std::uint32_t> pins{0};
    ContextBatches batches;
    Mutex limits_mutex;
    SetAsideMemory limits;  ///< set aside for what the context's limits ask for, until a launch takes it
    std::atomic<bool> limits_held{false};
    /// Local memory that the context and its launches have taken so far, for each thread that the GPU can run
    /// at once.
    std::atomic<std::uint64_t> local_bytes_a_thread{kStandardStack};
    /// A green context: the primary context of its GPU, which has its memory and its code. Else null.
    std::atomic<Context*> parent{nullptr};
    std::atomic<CUgreenCtx> green{nullptr};
    Context* next = nullptr;

    bool is_green() const { return parent.load(std::memory_order_relaxed) != nullptr; }
    /// The context that has the memory and the code: itself, unless it is green.
    Context& owner() { return is_green() ? *parent.load(std::memory_order_relaxed) : *this; }
    const Context& owner() const { return is_green() ? *parent.load(std::memory_order_relaxed) : *this; }

    std::uint64_t key() const {
        return reinterpret_cast<std::uintptr_t>(handle.load(std::memory_order_relaxed));
    }
};

class ContextTable {
  public:
    constexpr ContextTable() = default;

    /// The entry of a context that is current or known; null if it can't be determined.
    Context* find(CUcontext handle);
    /// Adds a context that a hook has just seen being made. Null when out of memory.
    Context* add(CUcontext handle, int gpu, bool primary);
    /// The same for a green context; `handle`: what stands for it as a CUcontext.
    void add_green(CUcontext handle, CUgreenCtx green, Context& parent);
    Context* find_green(CUgreenCtx green);
    /// Whether there are green contexts. Programs without any pay one load for them.
    [[nodiscard]] bool any_green() const { return greens_.load(std::memory_order_relaxed) != 0; }
    Context* primary_of(int gpu);
    /// Whether it is the process's only context, as far as is known.
    bool has_only(const Context& context) const;

    /// Call before the driver destroys it: from here on no other thread of ours uses it. Waits for those that
    /// do.
    void retire(Context& context);
    /// The driver refused to destroy it.
    void unretire(Context& context) { context.dying.store(false); }
    /// The driver has destroyed it.
    void remove(Context& context);

    /// Keeps the service thread and cuCtxDestroy from using the context at once. False: it is being
    /// destroyed.
    bool pin(Context& context);
    void unpin(Context& context);

    /// Calls `function(Context&)` for every context of a GPU (all GPUs: -1), which is pinned meanwhile.
    template <class Function>
    void for_each(int gpu, Function function) {
        for (Context* each = first_.load(); each != nullptr; each = each->next) {
            if (each->handle.load() == nullptr || !pin(*each)) continue;
            // Only now: until it is pinned, the entry may become a context of another GPU.
            if (gpu < 0 || each->gpu == gpu) function(*each);
            unpin(*each);
        }
    }

    void reset_in_child();

  private:
    Context* fill(CUcontext handle, int gpu, bool primary, Context* parent, CUgreenCtx green);

    Mutex mutex_;
    std::atomic<Context*> first_{nullptr};
    std::atomic<int> greens_{0};
};

ContextTable& contexts();

}  // namespace cgpu::front
