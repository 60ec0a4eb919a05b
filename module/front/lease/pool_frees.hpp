#pragma once

#include <atomic>
#include <cstdint>

#include "module/front/contexts/context_table.hpp"

namespace cgpu::front {

/// Memory freed with cuMemFreeAsync: it is in use until its stream reaches the free. An event recorded behind
/// the free shows that.
class PoolFrees {
  public:
    constexpr PoolFrees() = default;

    /// After a successful cuMemFreeAsync on `stream`, by the thread that called it.
    void add(Context& context, CUstream stream);

    /// Queries the pools whose events have completed. Returns when to call again.
    std::int64_t settle_done(std::int64_t now);
    /// Whether a free of a GPU's memory is under way in another stream than this one: an allocation in the
    /// stream of the free can get the memory at once, another one can't.
    bool on_its_way_elsewhere(const Context& context, CUstream stream);

    /// Changes with every completed free on a GPU, and with every allocation.
    std::uint32_t progress(int gpu) const { return progress_[static_cast<std::size_t>(gpu)].load(); }
    /// Waits until the value isn't `seen` any more. False: nothing under way could change it, or nothing did
    /// by then.
    bool wait_for_progress(int gpu, std::uint32_t seen, std::int64_t until_ns);

    /// RAII: this thread is allocating from a pool and may return part of its reservation, so other threads
    /// without room wait for it before they fail.
    class Taking {
      public:
        explicit Taking(int gpu);
        ~Taking();
        Taking(const Taking&) = delete;
        Taking& operator=(const Taking&) = delete;
    };

    bool empty() const { return first_.load(std::memory_order_relaxed) == nullptr; }
    /// The context is gone, and all its memory with it.
    void forget(const Context& context);

    void reset_in_child();

  private:
    struct Free;
    template <class Pick>
    Free* take(Pick pick);

    void finish(Free* free);
    void progressed(int gpu);

    Mutex mutex_;
    std::atomic<Free*> first_{nullptr};
    template <class T>
    using PerGpu = std::array<std::atomic<T>, wire::kMaxGpus>;
    /// Frees on the list or being queried; allocations, except those that wait.
    PerGpu<int> outstanding_{};
    PerGpu<std::uint32_t> progress_{};
};

PoolFrees& pool_frees();

}  // namespace cgpu::front
