#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "tests/sim/driver/base/abi.hpp"
#include "tests/sim/driver/mapping/shared_memory.hpp"

namespace simgpu {

/// What cuMemCreate makes. It lives while the program has references to its handle or it is mapped. The
/// memory also lives while another process holds it.
struct PhysicalMemory {
    CUmemGenericAllocationHandle handle;
    CUmemAllocationProp properties;
    SharedMemoryPointer memory;
};

using PhysicalMemoryPointer = std::shared_ptr<const PhysicalMemory>;

/// The handles of the program, each with the number of times that it must be released.
class PhysicalHandles {
  public:
    CUmemGenericAllocationHandle add(const CUmemAllocationProp& properties, SharedMemoryPointer memory);
    void retain(const PhysicalMemoryPointer& physical);
    /// @return false: no such handle.
    bool release(CUmemGenericAllocationHandle handle);
    PhysicalMemoryPointer find(CUmemGenericAllocationHandle handle) const;

  private:
    struct Entry {
        PhysicalMemoryPointer physical;
        unsigned int references;
    };
    mutable std::mutex mutex_;
    std::map<CUmemGenericAllocationHandle, Entry> entries_;
    CUmemGenericAllocationHandle next_ = 1;
};

}  // namespace simgpu
