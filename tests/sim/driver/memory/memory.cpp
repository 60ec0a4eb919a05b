#include "tests/sim/driver/memory/memory.hpp"

#include <sys/mman.h>

#include <algorithm>

#include "tests/sim/device/file/address.hpp"
#include "tests/sim/driver/base/charge.hpp"
#include "tests/sim/driver/base/process.hpp"
#include "tests/sim/driver/context/context.hpp"
#include "tests/sim/driver/mapping/address_space.hpp"
#include "tests/sim/driver/mapping/virtual_memory.hpp"

namespace simgpu {

namespace {

constexpr std::uint64_t kMappedId = std::uint64_t{1} << 63;  ///< Keeps them apart from those of allocations.

}  // namespace

Memory::Memory(const Process& process, Observer& observer, Holdings& holdings, VirtualMemory& virtual_memory)
    : process_(process), observer_(observer), holdings_(holdings), virtual_memory_(virtual_memory) {
    for (std::uint32_t ordinal = 0; ordinal < process.visible_count(); ++ordinal) {
        default_pools_.push_back(
            std::make_unique<Pool>(process, observer, holdings, ordinal, Pool::Properties{}));
        current_pools_.push_back(default_pools_.back().get());
    }
}

bool Memory::grow(Context& context, std::uint64_t bytes, std::uint64_t& base) {
    if (!charge(process_, context.gpu(), bytes)) return false;
    base = map_device_memory(bytes);
    if (base == 0) refund(process_, context.gpu(), bytes);
    return base != 0;
}

CUresult Memory::allocate(Context& context, std::uint64_t size, MemoryKind kind, std::uint64_t& address) {
    if (size == 0) return CUDA_ERROR_INVALID_VALUE;
    if (size > kLongestAllocation) return CUDA_ERROR_OUT_OF_MEMORY;
    const std::lock_guard lock(mutex_);
    if (round_up(size, kGranule) >= kBlock) {
        if (!grow(context, round_up(size, kBlock), address)) return CUDA_ERROR_OUT_OF_MEMORY;
    } else {
        auto taken = context.small_blocks.take(size);
        if (!taken) {
            std::uint64_t base = 0;
            if (!grow(context, kBlock, base)) return CUDA_ERROR_OUT_OF_MEMORY;
            context.small_blocks.add({base, kBlock});
            taken = context.small_blocks.take(size);
        }
        address = *taken;
    }
    insert_locked({address, size, kind, &context, context.ordinal()});
    return CUDA_SUCCESS;
}

void Memory::insert_locked(Allocation allocation) {
    allocation.id = next_id_++;
    allocations_[allocation.address] = std::move(allocation);
}

CUresult Memory::free(std::uint64_t address) {
    const std::lock_guard lock(mutex_);
    const auto found = allocations_.find(address);
    if (found == allocations_.end() || !found->second.can_be_freed()) return CUDA_ERROR_INVALID_VALUE;
    const Allocation allocation = found->second;
    allocations_.erase(found);
    release_locked(allocation);
    return CUDA_SUCCESS;
}

CUresult Memory::free_array(std::uint64_t address) {
    const std::lock_guard lock(mutex_);
    const auto found = allocations_.find(address);
    if (found == allocations_.end()) return CUDA_ERROR_INVALID_VALUE;
    const Allocation allocation = found->second;
    allocations_.erase(found);
    release_locked(allocation);
    return CUDA_SUCCESS;
}

void Memory::release_locked(const Allocation& allocation) {
    if (allocation.kind == MemoryKind::pooled) {
        allocation.pool->give_back(allocation.address);
        return;
    }
    if (allocation.of_another_holder()) {
        unmap_device_memory(allocation.shared_at, allocation.shared->bytes());
        return;
    }
    Context& context = *allocation.context;
    if (context.small_blocks.give_back(allocation.address) == 0) {
        give_up_region(context.gpu(), allocation.address, round_up(allocation.size, kBlock));
        return;
    }
    for (const BlockHeap::Region& block : context.small_blocks.remove_empty(0)) {
        give_up_region(context.gpu(), block.base, block.size);
    }
}

void Memory::give_up_region(std::uint32_t gpu, std::uint64_t base, std::uint64_t bytes) {
    unmap_device_memory(base, bytes);
    // Shared memory stays while other processes hold it, and its charge moves to them.
    if (shared_regions_.erase(base) == 0) refund(process_, gpu, bytes);
}

CUresult Memory::allocate_host(Context& context, std::uint64_t size, unsigned int flags, void*& address) {
    if (size == 0) return CUDA_ERROR_INVALID_VALUE;
    void* at = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
    address = at;
    const std::lock_guard lock(mutex_);
    insert_locked({reinterpret_cast<std::uint64_t>(at), size, MemoryKind::host, &context, context.ordinal(),
                   nullptr, flags});
    return CUDA_SUCCESS;
}

CUresult Memory::register_host(Context& context, void* address, std::uint64_t size, unsigned int flags) {
    if (!address || size == 0) return CUDA_ERROR_INVALID_VALUE;
    const auto begin = reinterpret_cast<std::uint64_t>(address);
    const std::lock_guard lock(mutex_);
    const auto next = allocations_.lower_bound(begin);
    if (next != allocations_.end() && next->first < begin + size)
        return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    insert_locked({begin, size, MemoryKind::registered, &context, context.ordinal(), nullptr, flags});
    return CUDA_SUCCESS;
}

CUresult Memory::free_host(void* address, MemoryKind kind) {
    const std::lock_guard lock(mutex_);
    const auto found = allocations_.find(reinterpret_cast<std::uint64_t>(address));
    if (found == allocations_.end() || found->second.kind != kind) {
        return kind == MemoryKind::registered ? CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED
                                              : CUDA_ERROR_INVALID_VALUE;
    }
    if (kind == MemoryKind::host) munmap(address, found->second.size);
    allocations_.erase(found);
    return CUDA_SUCCESS;
}

std::optional<Allocation> Memory::find(std::uint64_t address) const {
    {
        const std::lock_guard lock(mutex_);
        const auto after = allocations_.upper_bound(address);
        if (after != allocations_.begin()) {
            const Allocation& allocation = std::prev(after)->second;
            if (address < allocation.address + allocation.size) return allocation;
        }
    }
    const auto mapping = virtual_memory_.mapping_at(address);
    if (!mapping) return std::nullopt;
    const CUmemLocation& location = mapping->physical->properties.location;
    const bool on_device = location.type == CU_MEM_LOCATION_TYPE_DEVICE;
    Allocation allocation{mapping->address, mapping->size, MemoryKind::mapped, nullptr,
                          on_device ? static_cast<std::uint32_t>(location.id) : kMaxGpus};
    allocation.id = mapping->physical->handle | kMappedId;
    return allocation;
}

bool Memory::covers(std::uint64_t address, std::uint64_t size) const {
    const auto allocation = find(address);
    if (!allocation) return false;
    if (allocation->kind == MemoryKind::mapped) return virtual_memory_.covers(address, size);
    return size <= allocation->address + allocation->size - address;
}

bool Memory::refuses(std::uint32_t ordinal, std::uint64_t address, std::uint64_t size,
                     CUmemAccess_flags wanted) const {
    const auto allocation = find(address);
    if (allocation && allocation->pool) return !allocation->pool->access().allows(ordinal, wanted);
    return virtual_memory_.refuses(address, size,
                                   [=](const Access& access) { return access.allows(ordinal, wanted); });
}

bool Memory::refuses_all(std::uint64_t address, std::uint64_t size, CUmemAccess_flags wanted) const {
    return virtual_memory_.refuses(address, size, [=](const Access& access) {
        for (std::uint32_t ordinal = 0; ordinal < kMaxGpus; ++ordinal) {
            if (access.allows(ordinal, wanted)) return true;
        }
        return false;
    });
}

CUresult Memory::allocate_from(Pool& pool, Stream& stream, std::uint64_t size, std::uint64_t& address) {
    if (size == 0) return CUDA_ERROR_INVALID_VALUE;
    if (!pool.take(stream, size, address)) return CUDA_ERROR_OUT_OF_MEMORY;
    const std::lock_guard lock(mutex_);
    insert_locked({address, size, MemoryKind::pooled, &stream.context, pool.ordinal(), &pool});
    return CUDA_SUCCESS;
}

CUresult Memory::free_async(std::uint64_t address, Stream& stream) {
    std::unique_lock lock(mutex_);
    const auto found = allocations_.find(address);
    if (found == allocations_.end() || !found->second.can_be_freed()) return CUDA_ERROR_INVALID_VALUE;
    const Allocation allocation = found->second;
    if (allocation.kind == MemoryKind::pooled) {
        allocations_.erase(found);
        lock.unlock();
        allocation.pool->give_back_in_order(stream, address);
        return CUDA_SUCCESS;
    }
    lock.unlock();
    Operation operation;
    operation.effect = [this, address](const Record&) { free(address); };
    stream.context.submit(stream, std::move(operation));
    return CUDA_SUCCESS;
}

void Memory::enter_graph_memory(Context& context, std::uint64_t address, std::uint64_t size) {
    const std::lock_guard lock(mutex_);
    insert_locked({address, size, MemoryKind::graph, &context, context.ordinal()});
}

void Memory::leave_graph_memory(std::uint64_t address) {
    const std::lock_guard lock(mutex_);
    allocations_.erase(address);
}

void Memory::release_all(Context& context) {
    {
        const std::lock_guard lock(mutex_);
        std::vector<Allocation> own;
        for (const auto& [address, allocation] : allocations_) {
            const bool is_ours =
                allocation.kind != MemoryKind::registered && allocation.kind != MemoryKind::graph;
            if (allocation.context == &context && is_ours) own.push_back(allocation);
        }
        for (const Allocation& allocation : own) {
            allocations_.erase(allocation.address);
            if (allocation.kind == MemoryKind::host) {
                munmap(at_address(allocation.address), allocation.size);
            } else {
                release_locked(allocation);
            }
        }
        std::erase_if(allocations_, [&](const auto& entry) { return entry.second.context == &context; });
    }
    for (const auto& pool : default_pools_) {
        if (pool->ordinal() == context.ordinal()) pool->trim(0);
    }
}

Pool& Memory::current_pool(std::uint32_t ordinal) {
    const std::lock_guard lock(mutex_);
    return *current_pools_[ordinal];
}

void Memory::set_current_pool(std::uint32_t ordinal, Pool& pool) {
    const std::lock_guard lock(mutex_);
    current_pools_[ordinal] = &pool;
}

Pool* Memory::create_pool(std::uint32_t ordinal, const Pool::Properties& properties) {
    const std::lock_guard lock(mutex_);
    created_pools_.push_back(std::make_unique<Pool>(process_, observer_, holdings_, ordinal, properties));
    return created_pools_.back().get();
}

void Memory::destroy_pool(Pool* pool) {
    // What is still allocated from it stays usable, so the object stays; only its spare memory is freed.
    pool->retire();
    const std::lock_guard lock(mutex_);
    if (current_pools_[pool->ordinal()] == pool) {
        current_pools_[pool->ordinal()] = default_pools_[pool->ordinal()].get();
    }
}

void Memory::trim_pools() {
    std::vector<Pool*> pools;
    {
        const std::lock_guard lock(mutex_);
        for (const auto& pool : default_pools_) pools.push_back(pool.get());
        for (const auto& pool : created_pools_) pools.push_back(pool.get());
    }
    for (Pool* pool : pools) pool->trim_to_threshold();
}

}  // namespace simgpu
