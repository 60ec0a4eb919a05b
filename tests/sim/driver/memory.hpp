#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "tests/sim/driver/abi.hpp"
#include "tests/sim/driver/pool.hpp"

namespace simgpu {

class Context;
class Runtime;

enum class MemoryKind { plain, managed, pooled, host, registered, graph };

/// A range of addresses that the driver knows. Device memory is memory of this process: a device pointer is
/// its address.
struct Allocation {
    std::uint64_t address;
    std::uint64_t size;
    MemoryKind kind;
    Context* context;
    Pool* pool;  ///< pooled
    unsigned int flags;
    std::uint64_t id;

    bool on_host() const { return kind == MemoryKind::host || kind == MemoryKind::registered; }
};

/// All memory that the driver handed out in this process.
class Memory {
  public:
    explicit Memory(Runtime& runtime);

    /// Device memory: under 2 MiB from the context's blocks of 2 MiB, else whole blocks of its own.
    CUresult allocate(Context& context, std::uint64_t size, MemoryKind kind, std::uint64_t& address);
    /// @return CUDA_ERROR_INVALID_VALUE if it isn't the beginning of device memory. The caller has
    /// synchronised.
    CUresult free(std::uint64_t address);

    CUresult allocate_host(Context& context, std::uint64_t size, unsigned int flags, void*& address);
    CUresult register_host(Context& context, void* address, std::uint64_t size, unsigned int flags);
    CUresult free_host(void* address, MemoryKind kind);

    /// The allocation that `address` lies in.
    std::optional<Allocation> find(std::uint64_t address) const;
    /// Whether the driver knows the whole range.
    bool covers(std::uint64_t address, std::uint64_t size) const;

    CUresult allocate_from(Pool& pool, Stream& stream, std::uint64_t size, std::uint64_t& address);
    CUresult free_async(std::uint64_t address, Stream& stream);

    /// Addresses that allocation nodes of graphs stand for.
    void enter_graph_memory(Context& context, std::uint64_t address, std::uint64_t size);
    void leave_graph_memory(std::uint64_t address);

    /// Frees everything that belongs to the context.
    void release_all(Context& context);

    Pool& default_pool(std::uint32_t ordinal) { return *default_pools_[ordinal]; }
    Pool& current_pool(std::uint32_t ordinal);
    void set_current_pool(std::uint32_t ordinal, Pool& pool);
    Pool* create_pool(std::uint32_t ordinal);
    void destroy_pool(Pool* pool);
    void trim_pools();

  private:
    bool grow(Context& context, std::uint64_t bytes, std::uint64_t& base);
    void release_locked(const Allocation& allocation);
    void insert_locked(std::uint64_t address, std::uint64_t size, MemoryKind kind, Context* context,
                       Pool* pool, unsigned int flags);

    Runtime& runtime_;
    mutable std::mutex mutex_;
    std::map<std::uint64_t, Allocation> allocations_;
    std::uint64_t next_id_ = 1;
    std::vector<std::unique_ptr<Pool>> default_pools_;
    std::vector<Pool*> current_pools_;
    std::vector<std::unique_ptr<Pool>> created_pools_;
};

/// Address space for device memory: 2 MiB aligned, costs nothing until it is touched. @return 0 if there is
/// none.
std::uint64_t map_device_memory(std::uint64_t bytes);
void unmap_device_memory(std::uint64_t base, std::uint64_t bytes);

}  // namespace simgpu
