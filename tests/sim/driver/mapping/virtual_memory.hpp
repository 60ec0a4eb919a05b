#pragma once

#include <map>
#include <mutex>
#include <optional>

#include "tests/sim/driver/base/access.hpp"
#include "tests/sim/driver/mapping/physical_memory.hpp"

namespace simgpu {

class Runtime;

/// Part of a reservation at which physical memory is mapped.
struct Mapping {
    std::uint64_t address;
    std::uint64_t size;
    PhysicalMemoryPointer physical;
    Access access;
};

struct Reservation {
    std::uint64_t address;
    std::uint64_t size;
};

/// Address space that the program reserved, and what it mapped there. All addresses and sizes must be
/// multiples of the granularity of 2 MiB; otherwise the result is CUDA_ERROR_INVALID_VALUE.
class VirtualMemory {
  public:
    CUresult reserve(std::uint64_t size, std::uint64_t alignment, std::uint64_t hint, std::uint64_t& address);
    /// Takes only a whole reservation in which nothing is mapped.
    CUresult free(std::uint64_t address, std::uint64_t size);

    CUresult map(std::uint64_t address, std::uint64_t size, const PhysicalMemoryPointer& physical);
    /// Takes only whole mappings. The caller has synchronised.
    CUresult unmap(std::uint64_t address, std::uint64_t size);
    /// Takes only whole mappings without a gap. `change` is called for each.
    template <typename Change>
    CUresult change_access(std::uint64_t address, std::uint64_t size, Change change);

    std::optional<Mapping> mapping_at(std::uint64_t address) const;
    std::optional<Reservation> reservation_at(std::uint64_t address) const;

    /// Whether all of the range is mapped, by one or more mappings.
    bool covers(std::uint64_t address, std::uint64_t size) const;
    /// Whether part of the range is reserved address space for which `allowed` is false, or where nothing is
    /// mapped.
    template <typename Allowed>
    bool refuses(std::uint64_t address, std::uint64_t size, Allowed allowed) const;

  private:
    using Mappings = std::map<std::uint64_t, Mapping>;
    template <typename Map>
    static auto holder_of(Map& map, std::uint64_t address);
    bool are_whole_mappings(std::uint64_t address, std::uint64_t size) const;

    mutable std::mutex mutex_;
    std::map<std::uint64_t, Reservation> reservations_;
    Mappings mappings_;
};

/// Returns the entry that contains the address, or the map's end.
template <typename Map>
auto VirtualMemory::holder_of(Map& map, std::uint64_t address) {
    const auto after = map.upper_bound(address);
    if (after == map.begin()) return map.end();
    const auto entry = std::prev(after);
    return address - entry->first < entry->second.size ? entry : map.end();
}

template <typename Change>
CUresult VirtualMemory::change_access(std::uint64_t address, std::uint64_t size, Change change) {
    const std::lock_guard lock(mutex_);
    if (!are_whole_mappings(address, size)) return CUDA_ERROR_INVALID_VALUE;
    for (auto mapping = mappings_.find(address);
         mapping != mappings_.end() && mapping->first < address + size; ++mapping) {
        change(mapping->second.access);
    }
    return CUDA_SUCCESS;
}

template <typename Allowed>
bool VirtualMemory::refuses(std::uint64_t address, std::uint64_t size, Allowed allowed) const {
    const std::lock_guard lock(mutex_);
    const std::uint64_t end = address + size;
    auto reservation = holder_of(reservations_, address);
    if (reservation == reservations_.end()) return false;
    while (address < end) {
        const auto mapping = holder_of(mappings_, address);
        if (mapping == mappings_.end() || !allowed(mapping->second.access)) return true;
        address = mapping->first + mapping->second.size;
    }
    return false;
}

}  // namespace simgpu
