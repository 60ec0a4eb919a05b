#pragma once

#include <atomic>
#include <cstdint>

#include "module/front/context_table.hpp"

namespace cgpu::front {

/// Memory given back with cuMemFreeAsync: it is in use until its stream gets there, which an event recorded
/// behind the free tells.
class PoolFrees {
  public:
    constexpr PoolFrees() = default;

    /// After a successful cuMemFreeAsync on `stream`, by the thread that called it.
    void add(Context& context, CUstream stream);

    /// Looks at the pools where an event has come. Returns when to look again.
    std::int64_t settle_done(std::int64_t now);
    /// Whether memory of a GPU is on its way back in another stream than this: an allocation in the stream of
    /// the free can be given the memory at once, another one can't.
    bool on_its_way_elsewhere(const Context& context, CUstream stream);
    /// Waits for one of the frees on a GPU to be done. False: there are none, or not by then.
    bool wait_for_one(int gpu, std::int64_t until_ns);

    bool empty() const { return first_.load(std::memory_order_relaxed) == nullptr; }
    /// The context is gone and all its memory with it.
    void forget(const Context& context);

    void reset_in_child();

  private:
    struct Free;
    template <class Pick>
    Free* take(Pick pick);

    void finish(Free* free);

    Mutex mutex_;
    std::atomic<Free*> first_{nullptr};
    std::array<std::atomic<int>, wire::kMaxGpus> outstanding_{};  ///< on the list or being looked at
};

PoolFrees& pool_frees();

}  // namespace cgpu::front
