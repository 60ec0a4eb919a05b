#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "tests/sim/driver/base/abi.hpp"

namespace simgpu {

class Context;
class Memory;
class Observer;
class Process;
struct Stream;

/// What an allocation node of a graph allocates: an address that stays the same over all launches.
class GraphAllocation {
  public:
    /// @param owner to which its bytes are charged. The address space costs nothing; is_mapped() says whether
    /// there was any.
    GraphAllocation(Memory& memory, Context& owner, std::uint64_t bytes_asked);
    ~GraphAllocation();
    GraphAllocation(const GraphAllocation&) = delete;
    GraphAllocation& operator=(const GraphAllocation&) = delete;

    bool is_mapped() const { return address != 0; }

    Context& context;
    const std::uint64_t size;
    const std::uint64_t reserved;  ///< The size in whole blocks.
    const std::uint64_t address;

  private:
    friend class GraphMemory;
    Memory& memory_;
    // Guarded by GraphMemory.
    bool backed = false;        ///< Its bytes are charged.
    unsigned int launches = 0;  ///< Of graphs that use it, not seen to end.
    bool live = false;          ///< Allocated by a launch (in launch order) and not freed since.
    bool in_use = false;        ///< The same in the GPU's order.
};

/// The memory of graphs of all devices. A launch (or an upload) charges what the graph's nodes allocate. It
/// stays charged until it is trimmed, even after it was freed.
class GraphMemory {
  public:
    GraphMemory(const Process& process, Observer& observer, Memory& memory)
        : process_(process), observer_(observer), memory_(memory) {}

    /// @return nullptr: there is no address space for it.
    std::shared_ptr<GraphAllocation> create(Context& context, std::uint64_t bytes);
    /// Whether the address belongs to an existing allocation node.
    bool knows(std::uint64_t address) const;

    /// Charges what is not charged yet. @return CUDA_ERROR_OUT_OF_MEMORY if the card has no room.
    CUresult back(const std::vector<std::shared_ptr<GraphAllocation>>& allocations);

    /// Call these when a launch that uses the allocations begins, and when it has ended.
    void launched(const std::vector<std::shared_ptr<GraphAllocation>>& allocations);
    void ended(const std::vector<std::shared_ptr<GraphAllocation>>& allocations);

    bool is_live(const GraphAllocation& allocation) const;
    void allocate_in_order(GraphAllocation& allocation, Stream& stream);
    /// @return CUDA_ERROR_INVALID_VALUE if no graph's launch has allocated the address.
    CUresult free_in_order(std::uint64_t address, Stream& stream);
    CUresult free(std::uint64_t address);

    /// Frees what no launch uses and is not allocated.
    void trim(std::uint32_t ordinal);
    void release_all(Context& context);

    struct Usage {
        std::uint64_t used;
        std::uint64_t used_high;
        std::uint64_t reserved;
        std::uint64_t reserved_high;
    };
    Usage usage(std::uint32_t ordinal);
    void reset_used_high(std::uint32_t ordinal);
    void reset_reserved_high(std::uint32_t ordinal);

  private:
    void set_in_use(GraphAllocation& allocation, bool in_use);
    void unback(GraphAllocation& allocation);
    std::shared_ptr<GraphAllocation> find_live(std::uint64_t address) const;
    Usage& counted(const GraphAllocation& allocation);
    Usage& counted(std::uint32_t ordinal);

    const Process& process_;
    Observer& observer_;
    Memory& memory_;
    mutable std::mutex mutex_;
    std::vector<std::shared_ptr<GraphAllocation>> backed_;
    std::map<std::uint64_t, std::weak_ptr<GraphAllocation>> created_;
    std::vector<Usage> usage_;  ///< By ordinal.
};

}  // namespace simgpu
