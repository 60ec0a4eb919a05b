#pragma once

#include <atomic>
#include <cstdint>

#include "core/wire/limits.hpp"
#include "module/front/base/waiting.hpp"
#include "module/front/driver/cuda_abi.hpp"

namespace cgpu::front {

/// One memory pool of the driver's, from its first use to its end; what the driver keeps for the allocation
/// nodes of all graphs on a device is one, too, with a handle of our own.
struct Pool {
    std::atomic<CUmemoryPool> handle{nullptr};
    std::atomic<int> gpu{-1};
    std::atomic<std::uint64_t> looks{0};  ///< begun so far
    std::uint64_t last_look = 0;          ///< whose figure counts now
    std::uint64_t bytes = 0;              ///< that figure
    std::atomic<std::uint64_t> gone{0};   ///< by how much the figures have sunk so far, all together
    std::atomic<bool> doomed{false};      ///< the program has destroyed it, but memory of it is in use
    /// Number of threads that are querying this pool. kEnding is set when the pool is unused: no new query
    /// starts, and the last thread has the driver destroy the pool.
    std::atomic<std::uint32_t> pins{0};
    static constexpr std::uint32_t kEnding = 1u << 31;
    Pool* next = nullptr;
};

/// A pool is charged at what it has taken from the card (CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), in use or
/// kept for later. The driver reports that figure; it is read again after every call that may have changed
/// it.
class Pools {
  public:
    constexpr Pools() = default;

    /// The entry of a pool on that GPU. Null: no memory for one.
    Pool* note(CUmemoryPool handle, int gpu);
    Pool* find(CUmemoryPool handle);
    /// The same for the graphs on that GPU.
    Pool* note_of_graphs(int gpu);
    void look_at_graphs(int gpu);
    /// Pool::gone of that; 0 where there is none.
    std::uint64_t gone_from_graphs(int gpu);

    /// Charges what the pool has now, after a driver call that `reserved` bytes were set aside for (0: none).
    /// Answers by how many bytes the charges exceed the lease then.
    std::uint64_t look(Pool& pool, std::uint64_t reserved = 0);
    /// The same for all pools of a GPU.
    void look_at_all(int gpu);
    bool any(int gpu) const {
        return count_[static_cast<std::size_t>(gpu)].load(std::memory_order_relaxed) > 0;
    }

    /// Bytes that the pool has and nobody uses, as the driver says.
    static std::uint64_t spare(CUmemoryPool handle);
    /// Has the GPU's pools give back to the card what nobody uses.
    void trim(int gpu);

    /// The program destroys the pool. As long as memory of it is in use the driver keeps it, but would not
    /// tell its size any more: so the driver hears of it when the last memory has been freed.
    CUresult destroy(Pool& pool);

    void reset_in_child();

  private:
    class Pin;
    void end(Pool& pool);

    Mutex mutex_;
    std::atomic<Pool*> first_{nullptr};  ///< entries stay, and are used again
    std::atomic<int> count_[wire::kMaxGpus]{};
};

Pools& pools();

}  // namespace cgpu::front
