#include "tests/sim/driver/mapping/physical_memory.hpp"

#include <utility>

namespace simgpu {

CUmemGenericAllocationHandle PhysicalHandles::add(const CUmemAllocationProp& properties,
                                                  SharedMemoryPointer memory) {
    const std::lock_guard lock(mutex_);
    const CUmemGenericAllocationHandle handle = next_++;
    entries_[handle] = {
        std::make_shared<const PhysicalMemory>(PhysicalMemory{handle, properties, std::move(memory)}), 1};
    return handle;
}

void PhysicalHandles::retain(const PhysicalMemoryPointer& physical) {
    const std::lock_guard lock(mutex_);
    // Also where the last reference had been released and only a mapping was left.
    Entry& entry = entries_[physical->handle];
    entry.physical = physical;
    ++entry.references;
}

bool PhysicalHandles::release(CUmemGenericAllocationHandle handle) {
    PhysicalMemoryPointer last;  // let go without the lock
    const std::lock_guard lock(mutex_);
    const auto entry = entries_.find(handle);
    if (entry == entries_.end()) return false;
    if (--entry->second.references > 0) return true;
    last = std::move(entry->second.physical);
    entries_.erase(entry);
    return true;
}

PhysicalMemoryPointer PhysicalHandles::find(CUmemGenericAllocationHandle handle) const {
    const std::lock_guard lock(mutex_);
    const auto entry = entries_.find(handle);
    return entry == entries_.end() ? nullptr : entry->second.physical;
}

}  // namespace simgpu
