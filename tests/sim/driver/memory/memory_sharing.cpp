// The part of Memory that several processes share.
#include <sys/mman.h>

#include <array>
#include <cstring>
#include <utility>

#include "tests/sim/device/file/address.hpp"
#include "tests/sim/driver/base/charge.hpp"
#include "tests/sim/driver/base/process.hpp"
#include "tests/sim/driver/context/context.hpp"
#include "tests/sim/driver/mapping/address_space.hpp"
#include "tests/sim/driver/memory/memory.hpp"
#include "tests/sim/driver/stream/observer.hpp"

namespace simgpu {

namespace {

/// Copies only what is not zero, so that untouched memory still costs nothing.
void copy_touched(std::uint64_t to, std::uint64_t from, std::uint64_t bytes) {
    static constexpr std::array<char, 4096> kZeros{};
    for (std::uint64_t at = 0; at < bytes; at += kZeros.size()) {
        const auto* page = at_address<const char>(from + at);
        if (std::memcmp(page, kZeros.data(), kZeros.size()) == 0) continue;
        std::memcpy(at_address(to + at), page, kZeros.size());
    }
}

}  // namespace

CUresult Memory::share(std::uint64_t address, SegmentName& name, std::uint64_t& offset, std::uint64_t& size) {
    CUresult result = CUDA_SUCCESS;
    observer_.without_effects([&] {
        const std::lock_guard lock(mutex_);
        const auto after = allocations_.upper_bound(address);
        const Allocation* found = after == allocations_.begin() ? nullptr : &std::prev(after)->second;
        if (!found || found->kind != MemoryKind::plain || address >= found->address + found->size) {
            result = CUDA_ERROR_INVALID_VALUE;
            return;
        }
        // Small allocations share their whole block.
        const bool small = round_up(found->size, kGranule) < kBlock;
        const std::uint64_t base = found->address / kBlock * kBlock;
        const std::uint64_t bytes = small ? kBlock : round_up(found->size, kBlock);
        if (!share_region(found->context->gpu(), base, bytes)) {
            result = CUDA_ERROR_OUT_OF_MEMORY;
            return;
        }
        name = shared_regions_[base]->name();
        offset = found->address - base;
        size = found->size;
    });
    return result;
}

bool Memory::share_region(std::uint32_t gpu, std::uint64_t base, std::uint64_t bytes) {
    if (shared_regions_.contains(base)) return true;
    const std::uint64_t copy = map_device_memory(bytes);
    if (copy == 0) return false;
    auto shared = holdings_.adopt(gpu, bytes);
    if (!shared || !shared->map_at(copy)) {
        unmap_device_memory(copy, bytes);
        // The charge moves with the segment, and the region stays.
        if (std::exchange(shared, nullptr)) charge(process_, gpu, bytes);
        return false;
    }
    copy_touched(copy, base, bytes);
    mremap(at_address(copy), bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, at_address(base));
    shared_regions_[base] = std::move(shared);
    return true;
}

CUresult Memory::open_shared(Allocation allocation, SharedMemoryPointer shared, std::uint64_t offset,
                             std::uint64_t& address) {
    const std::uint64_t base = map_device_memory(shared->bytes());
    if (base == 0) return CUDA_ERROR_OUT_OF_MEMORY;
    if (!shared->map_at(base)) {
        unmap_device_memory(base, shared->bytes());
        return CUDA_ERROR_MAP_FAILED;
    }
    address = base + offset;
    allocation.address = address;
    allocation.shared_at = base;
    allocation.shared = std::move(shared);
    const std::lock_guard lock(mutex_);
    insert_locked(std::move(allocation));
    return CUDA_SUCCESS;
}

CUresult Memory::open_ipc(Context& context, SegmentName name, std::uint64_t offset, std::uint64_t size,
                          std::uint64_t& address) {
    {
        const std::lock_guard lock(mutex_);
        for (auto& [at, allocation] : allocations_) {
            if (allocation.kind != MemoryKind::ipc || allocation.context != &context) continue;
            if (allocation.shared->name().serial != name.serial || at - allocation.shared_at != offset)
                continue;
            ++allocation.opens;
            address = at;
            return CUDA_SUCCESS;
        }
    }
    auto shared = holdings_.open(name);
    if (!shared || offset + size > shared->bytes()) return CUDA_ERROR_INVALID_VALUE;
    const auto ordinal = process_.ordinal_of(shared->gpu());
    if (!ordinal) return CUDA_ERROR_MAP_FAILED;
    return open_shared({0, size, MemoryKind::ipc, &context, *ordinal}, std::move(shared), offset, address);
}

CUresult Memory::close_ipc(std::uint64_t address) {
    const std::lock_guard lock(mutex_);
    const auto found = allocations_.find(address);
    if (found == allocations_.end() || found->second.kind != MemoryKind::ipc) return CUDA_ERROR_INVALID_VALUE;
    if (--found->second.opens > 0) return CUDA_SUCCESS;
    release_locked(found->second);
    allocations_.erase(found);
    return CUDA_SUCCESS;
}

}  // namespace simgpu
