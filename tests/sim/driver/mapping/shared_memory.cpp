#include "tests/sim/driver/mapping/shared_memory.hpp"

#include "tests/sim/device/ledger/segments.hpp"
#include "tests/sim/driver/base/charge.hpp"
#include "tests/sim/driver/base/process.hpp"

namespace simgpu {

SharedMemory::~SharedMemory() { holdings_.release(name_.index); }

bool SharedMemory::map_at(std::uint64_t address, std::uint64_t offset, std::uint64_t size) const {
    return holdings_.process_.device().map_data(offset_ + offset, size, address);
}

SharedMemoryPointer Holdings::create(std::uint32_t gpu, std::uint64_t bytes) {
    if (gpu == kHostMemory) return adopt(gpu, bytes);
    if (!charge(process_, gpu, bytes)) return nullptr;
    auto memory = adopt(gpu, bytes);
    if (!memory) refund(process_, gpu, bytes);
    return memory;
}

SharedMemoryPointer Holdings::adopt(std::uint32_t gpu, std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    Session session(process_.device());
    Segments segments(session);
    const auto name = segments.add(process_.slot(), gpu, bytes);
    if (!name) return nullptr;
    ++references_[name->index];
    return std::make_shared<const SharedMemory>(*this, *name, *segments.find(*name));
}

SharedMemoryPointer Holdings::open(SegmentName name) {
    const std::lock_guard lock(mutex_);
    Session session(process_.device());
    Segments segments(session);
    if (!segments.hold(name, process_.slot())) return nullptr;
    ++references_[name.index];
    return std::make_shared<const SharedMemory>(*this, name, *segments.find(name));
}

void Holdings::release(std::uint32_t index) {
    const std::lock_guard lock(mutex_);
    if (--references_[index] > 0) return;
    references_.erase(index);
    Session session(process_.device());
    Segments(session).drop(index, process_.slot());
}

}  // namespace simgpu
