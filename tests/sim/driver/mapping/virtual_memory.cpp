#include "tests/sim/driver/mapping/virtual_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <vector>

#include "tests/sim/device/file/address.hpp"
#include "tests/sim/model/block_heap.hpp"

namespace simgpu {

namespace {

bool is_granular(std::uint64_t address, std::uint64_t size) {
    return size > 0 && address % kBlock == 0 && size % kBlock == 0;
}

/// Address space without memory behind it.
std::uint64_t reserve_addresses(std::uint64_t size, std::uint64_t alignment, std::uint64_t hint) {
    void* at = mmap(at_address(hint), size + alignment, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) return 0;
    const auto begin = reinterpret_cast<std::uint64_t>(at);
    const std::uint64_t address = round_up(begin, alignment);
    if (address > begin) munmap(at, address - begin);
    if (begin + alignment > address) {
        munmap(at_address(address + size), begin + alignment - address);
    }
    return address;
}

}  // namespace

CUresult VirtualMemory::reserve(std::uint64_t size, std::uint64_t alignment, std::uint64_t hint,
                                std::uint64_t& address) {
    const bool power_of_two = (alignment & (alignment - 1)) == 0;
    if (size == 0 || size % kBlock != 0 || !power_of_two) return CUDA_ERROR_INVALID_VALUE;
    if (size > kLongestAllocation || alignment > kLongestAllocation) return CUDA_ERROR_OUT_OF_MEMORY;
    address = reserve_addresses(size, std::max(alignment, kBlock), hint);
    if (address == 0) return CUDA_ERROR_OUT_OF_MEMORY;
    const std::lock_guard lock(mutex_);
    reservations_[address] = {address, size};
    return CUDA_SUCCESS;
}

CUresult VirtualMemory::free(std::uint64_t address, std::uint64_t size) {
    const std::lock_guard lock(mutex_);
    const auto reservation = reservations_.find(address);
    if (reservation == reservations_.end() || reservation->second.size != size) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    const auto mapping = mappings_.lower_bound(address);
    if (mapping != mappings_.end() && mapping->first < address + size) return CUDA_ERROR_INVALID_VALUE;
    munmap(at_address(address), size);
    reservations_.erase(reservation);
    return CUDA_SUCCESS;
}

CUresult VirtualMemory::map(std::uint64_t address, std::uint64_t size,
                            const PhysicalMemoryPointer& physical) {
    if (!is_granular(address, size) || size > physical->memory->bytes()) return CUDA_ERROR_INVALID_VALUE;
    const std::lock_guard lock(mutex_);
    const auto reservation = holder_of(reservations_, address);
    if (reservation == reservations_.end() ||
        size > reservation->first + reservation->second.size - address) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    const auto next = mappings_.lower_bound(address);
    const bool taken = holder_of(mappings_, address) != mappings_.end() ||
                       (next != mappings_.end() && next->first < address + size);
    if (taken) return CUDA_ERROR_INVALID_VALUE;
    if (!physical->memory->map_at(address, 0, size)) return CUDA_ERROR_OUT_OF_MEMORY;
    mappings_[address] = {address, size, physical, {}};
    return CUDA_SUCCESS;
}

CUresult VirtualMemory::unmap(std::uint64_t address, std::uint64_t size) {
    std::vector<PhysicalMemoryPointer> let_go;  // without the lock
    const std::lock_guard lock(mutex_);
    if (!are_whole_mappings(address, size)) return CUDA_ERROR_INVALID_VALUE;
    const void* empty = mmap(at_address(address), size, PROT_NONE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    if (empty == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
    auto mapping = mappings_.find(address);
    while (mapping != mappings_.end() && mapping->first < address + size) {
        let_go.push_back(mapping->second.physical);
        mapping = mappings_.erase(mapping);
    }
    return CUDA_SUCCESS;
}

bool VirtualMemory::are_whole_mappings(std::uint64_t address, std::uint64_t size) const {
    if (!is_granular(address, size)) return false;
    const std::uint64_t end = address + size;
    for (auto mapping = mappings_.find(address); mapping != mappings_.end() && mapping->first == address;
         ++mapping) {
        address += mapping->second.size;
        if (address >= end) return address == end;
    }
    return false;
}

std::optional<Mapping> VirtualMemory::mapping_at(std::uint64_t address) const {
    const std::lock_guard lock(mutex_);
    const auto mapping = holder_of(mappings_, address);
    return mapping == mappings_.end() ? std::nullopt : std::optional(mapping->second);
}

std::optional<Reservation> VirtualMemory::reservation_at(std::uint64_t address) const {
    const std::lock_guard lock(mutex_);
    const auto reservation = holder_of(reservations_, address);
    return reservation == reservations_.end() ? std::nullopt : std::optional(reservation->second);
}

bool VirtualMemory::covers(std::uint64_t address, std::uint64_t size) const {
    return reservation_at(address) && !refuses(address, size, [](const Access&) { return true; });
}

}  // namespace simgpu
