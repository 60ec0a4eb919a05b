#pragma once

#include <atomic>
#include <cstdint>

#include "core/wire/limits.hpp"
#include "module/front/base/waiting.hpp"
#include "module/front/driver/cuda_abi.hpp"

namespace cgpu::front {

/// One memory pool of the driver, from its first use to its end; the driver's memory for the allocation nodes
/// of all graphs on a device is one, too, with a handle of our own.
struct Pool {
    std::atomic<CUmemoryPool> handle{nullptr};
    std::atomic<int> gpu{-1};
    std::atomic<std::uint64_t> looks{0};  ///< queries begun so far
    std::uint64_t last_look = 0;          ///< the query whose figure counts now
    std::uint64_t bytes = 0;              ///< that figure
    std::atomic<std::uint64_t> gone{0};   ///< the sum of all decreases of the figure
    std::atomic<bool> exported{false};    ///< others may open its memory, which then lives on
    std::atomic<bool> doomed{false};      ///< the program has destroyed it, but its memory is in use
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

    /// The entry of a pool on that GPU. Null: no memory for an entry.
    Pool* note(CUmemoryPool handle, int gpu);
    Pool* find(CUmemoryPool handle);
    /// The same for the graph memory of that GPU.
    Pool* note_of_graphs(int gpu);
    void look_at_graphs(int gpu);
    /// Pool::gone of the graph memory; 0 if there is none.
    std::uint64_t gone_from_graphs(int gpu);

    /// Charges the pool's present size, after a driver call for which `reserved` bytes were reserved (0:
    /// none). Returns by how many bytes the charges exceed the lease then.
    std::uint64_t look(Pool& pool, std::uint64_t reserved = 0);
    /// The same for all pools of a GPU.
    void look_at_all(int gpu);
    bool any(int gpu) const {
        return count_[static_cast<std::size_t>(gpu)].load(std::memory_order_relaxed) > 0;
    }

    /// Bytes that the pool has and that are unused, by the driver's figures.
    static std::uint64_t spare(CUmemoryPool handle);
    /// Has the GPU's pools release unused memory to the card.
    void trim(int gpu);

    /// The pool is about to be exported.
    void will_export(Pool& pool);

    /// The program destroys the pool. As long as its memory is in use, the driver keeps it, but would not
    /// report its size any more: so the pool is destroyed in the driver when the last memory has been freed.
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
