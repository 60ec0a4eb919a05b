#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "tests/sim/driver/base/abi.hpp"
#include "tests/sim/driver/memory/allocation.hpp"
#include "tests/sim/driver/memory/pool.hpp"

namespace simgpu {

class Context;
class Process;
class VirtualMemory;

/// All memory that the driver allocated in this process.
class Memory {
  public:
    Memory(const Process& process, Observer& observer, Holdings& holdings, VirtualMemory& virtual_memory);

    /// Device memory: under 2 MiB from the context's blocks of 2 MiB, else whole blocks of its own.
    CUresult allocate(Context& context, std::uint64_t size, MemoryKind kind, std::uint64_t& address);
    /// @return CUDA_ERROR_INVALID_VALUE if it is not the beginning of memory that cuMemFree accepts. The
    /// caller has synchronised.
    CUresult free(std::uint64_t address);
    /// The memory of an array, or external memory that an array was mapped on.
    CUresult free_array(std::uint64_t address);

    CUresult allocate_host(Context& context, std::uint64_t size, unsigned int flags, void*& address);
    CUresult register_host(Context& context, void* address, std::uint64_t size, unsigned int flags);
    CUresult free_host(void* address, MemoryKind kind);

    /// The allocation or the mapping that `address` lies in.
    std::optional<Allocation> find(std::uint64_t address) const;
    /// Whether the driver knows the whole range.
    bool covers(std::uint64_t address, std::uint64_t size) const;
    /// Whether cuMemSetAccess or cuMemPoolSetAccess forbids the GPU to read (or write) any of the range.
    /// Memory outside their control is not refused.
    bool refuses(std::uint32_t ordinal, std::uint64_t address, std::uint64_t size,
                 CUmemAccess_flags wanted) const;
    /// Whether no GPU may read (or write) it. Copies check this, because any GPU can do them.
    bool refuses_all(std::uint64_t address, std::uint64_t size, CUmemAccess_flags wanted) const;

    CUresult allocate_from(Pool& pool, Stream& stream, std::uint64_t size, std::uint64_t& address);
    CUresult free_async(std::uint64_t address, Stream& stream);

    /// Makes a plain allocation part of a segment, if it is not yet, so that others can open it.
    /// @param offset of the allocation in the segment. @return CUDA_ERROR_INVALID_VALUE: not plain memory.
    CUresult share(std::uint64_t address, SegmentName& name, std::uint64_t& offset, std::uint64_t& size);
    /// Maps a segment and makes `size` bytes at `offset` an allocation of that kind, known by its address.
    CUresult open_shared(Allocation allocation, SharedMemoryPointer shared, std::uint64_t offset,
                         std::uint64_t& address);
    /// cuIpcOpenMemHandle and cuIpcCloseMemHandle: opened again, it is the same address.
    CUresult open_ipc(Context& context, SegmentName name, std::uint64_t offset, std::uint64_t size,
                      std::uint64_t& address);
    CUresult close_ipc(std::uint64_t address);
    /// Addresses that allocation nodes of graphs stand for.
    void enter_graph_memory(Context& context, std::uint64_t address, std::uint64_t size);
    void leave_graph_memory(std::uint64_t address);

    /// Frees everything that belongs to the context.
    void release_all(Context& context);

    Pool& default_pool(std::uint32_t ordinal) { return *default_pools_[ordinal]; }
    Pool& current_pool(std::uint32_t ordinal);
    void set_current_pool(std::uint32_t ordinal, Pool& pool);
    Pool* create_pool(std::uint32_t ordinal, const Pool::Properties& properties);
    void destroy_pool(Pool* pool);
    void trim_pools();

  private:
    bool grow(Context& context, std::uint64_t bytes, std::uint64_t& base);
    void release_locked(const Allocation& allocation);
    void give_up_region(std::uint32_t gpu, std::uint64_t base, std::uint64_t bytes);
    bool share_region(std::uint32_t gpu, std::uint64_t base, std::uint64_t bytes);
    void insert_locked(Allocation allocation);

    const Process& process_;
    Observer& observer_;
    Holdings& holdings_;
    VirtualMemory& virtual_memory_;
    mutable std::mutex mutex_;
    std::map<std::uint64_t, Allocation> allocations_;
    std::map<std::uint64_t, SharedMemoryPointer> shared_regions_;  ///< Of plain memory, by their base.
    std::uint64_t next_id_ = 1;
    std::vector<std::unique_ptr<Pool>> default_pools_;
    std::vector<Pool*> current_pools_;
    std::vector<std::unique_ptr<Pool>> created_pools_;
};

}  // namespace simgpu
