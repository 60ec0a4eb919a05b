#include "tests/sim/driver/memory/graph_memory.hpp"

#include <algorithm>

#include "tests/sim/driver/base/charge.hpp"
#include "tests/sim/driver/base/process.hpp"
#include "tests/sim/driver/context/context.hpp"
#include "tests/sim/driver/mapping/address_space.hpp"
#include "tests/sim/driver/memory/memory.hpp"
#include "tests/sim/driver/stream/observer.hpp"

namespace simgpu {

GraphAllocation::GraphAllocation(Memory& memory, Context& owner, std::uint64_t bytes_asked)
    : context(owner),
      size(bytes_asked),
      reserved(round_up(bytes_asked, kBlock)),
      address(map_device_memory(reserved)),
      memory_(memory) {}

GraphAllocation::~GraphAllocation() {
    if (!is_mapped()) return;
    memory_.leave_graph_memory(address);
    unmap_device_memory(address, reserved);
}

std::shared_ptr<GraphAllocation> GraphMemory::create(Context& context, std::uint64_t bytes) {
    if (bytes > kLongestAllocation) return nullptr;
    auto allocation = std::make_shared<GraphAllocation>(memory_, context, bytes);
    if (!allocation->is_mapped()) return nullptr;
    memory_.enter_graph_memory(context, allocation->address, bytes);
    const std::lock_guard lock(mutex_);
    std::erase_if(created_, [](const auto& entry) { return entry.second.expired(); });
    created_[allocation->address] = allocation;
    return allocation;
}

bool GraphMemory::knows(std::uint64_t address) const {
    const std::lock_guard lock(mutex_);
    const auto found = created_.find(address);
    return found != created_.end() && !found->second.expired();
}

CUresult GraphMemory::back(const std::vector<std::shared_ptr<GraphAllocation>>& allocations) {
    const std::lock_guard lock(mutex_);
    for (const auto& allocation : allocations) {
        if (allocation->backed) continue;
        if (!charge(process_, allocation->context.gpu(), allocation->reserved))
            return CUDA_ERROR_OUT_OF_MEMORY;
        allocation->backed = true;
        backed_.push_back(allocation);
        Usage& usage = counted(*allocation);
        usage.reserved += allocation->reserved;
        usage.reserved_high = std::max(usage.reserved_high, usage.reserved);
    }
    return CUDA_SUCCESS;
}

void GraphMemory::launched(const std::vector<std::shared_ptr<GraphAllocation>>& allocations) {
    const std::lock_guard lock(mutex_);
    for (const auto& allocation : allocations) ++allocation->launches;
}

void GraphMemory::ended(const std::vector<std::shared_ptr<GraphAllocation>>& allocations) {
    const std::lock_guard lock(mutex_);
    for (const auto& allocation : allocations) --allocation->launches;
}

bool GraphMemory::is_live(const GraphAllocation& allocation) const {
    const std::lock_guard lock(mutex_);
    return allocation.live;
}

void GraphMemory::allocate_in_order(GraphAllocation& allocation, Stream& stream) {
    {
        const std::lock_guard lock(mutex_);
        allocation.live = true;
    }
    Operation operation;
    operation.effect = [this, &allocation](const Record&) { set_in_use(allocation, true); };
    stream.context.submit(stream, std::move(operation));
}

CUresult GraphMemory::free_in_order(std::uint64_t address, Stream& stream) {
    std::shared_ptr<GraphAllocation> allocation;
    {
        const std::lock_guard lock(mutex_);
        allocation = find_live(address);
        if (!allocation) return CUDA_ERROR_INVALID_VALUE;
        allocation->live = false;
        ++allocation->launches;
    }
    Operation operation;
    operation.effect = [this, allocation](const Record&) {
        set_in_use(*allocation, false);
        ended({allocation});
    };
    stream.context.submit(stream, std::move(operation));
    return CUDA_SUCCESS;
}

CUresult GraphMemory::free(std::uint64_t address) {
    std::shared_ptr<GraphAllocation> allocation;
    {
        const std::lock_guard lock(mutex_);
        allocation = find_live(address);
        if (!allocation) return CUDA_ERROR_INVALID_VALUE;
        allocation->live = false;
    }
    set_in_use(*allocation, false);
    return CUDA_SUCCESS;
}

void GraphMemory::set_in_use(GraphAllocation& allocation, bool in_use) {
    const std::lock_guard lock(mutex_);
    if (allocation.in_use == in_use) return;
    allocation.in_use = in_use;
    Usage& usage = counted(allocation);
    if (!in_use) {
        usage.used -= allocation.reserved;
        return;
    }
    usage.used += allocation.reserved;
    usage.used_high = std::max(usage.used_high, usage.used);
}

std::shared_ptr<GraphAllocation> GraphMemory::find_live(std::uint64_t address) const {
    const auto found = std::find_if(backed_.begin(), backed_.end(), [address](const auto& allocation) {
        return allocation->address == address && allocation->live;
    });
    return found == backed_.end() ? nullptr : *found;
}

void GraphMemory::unback(GraphAllocation& allocation) {
    refund(process_, allocation.context.gpu(), allocation.reserved);
    counted(allocation).reserved -= allocation.reserved;
    if (allocation.in_use) counted(allocation).used -= allocation.reserved;
    allocation.backed = allocation.live = allocation.in_use = false;
}

void GraphMemory::trim(std::uint32_t ordinal) {
    observer_.observe();
    const std::lock_guard lock(mutex_);
    std::erase_if(backed_, [&](const auto& allocation) {
        const bool spare = allocation->context.ordinal() == ordinal && !allocation->live &&
                           !allocation->in_use && allocation->launches == 0;
        if (spare) unback(*allocation);
        return spare;
    });
}

void GraphMemory::release_all(Context& context) {
    const std::lock_guard lock(mutex_);
    std::erase_if(backed_, [&](const auto& allocation) {
        const bool belongs = &allocation->context == &context;
        if (belongs) unback(*allocation);
        return belongs;
    });
}

GraphMemory::Usage GraphMemory::usage(std::uint32_t ordinal) {
    const std::lock_guard lock(mutex_);
    return counted(ordinal);
}

void GraphMemory::reset_used_high(std::uint32_t ordinal) {
    const std::lock_guard lock(mutex_);
    counted(ordinal).used_high = counted(ordinal).used;
}

void GraphMemory::reset_reserved_high(std::uint32_t ordinal) {
    const std::lock_guard lock(mutex_);
    counted(ordinal).reserved_high = counted(ordinal).reserved;
}

GraphMemory::Usage& GraphMemory::counted(const GraphAllocation& allocation) {
    return counted(allocation.context.ordinal());
}

GraphMemory::Usage& GraphMemory::counted(std::uint32_t ordinal) {
    if (usage_.size() <= ordinal) usage_.resize(ordinal + 1);
    return usage_[ordinal];
}

}  // namespace simgpu
