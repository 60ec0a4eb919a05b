#include "tests/sim/driver/memory/pool.hpp"

#include <algorithm>
#include <memory>

#include "tests/sim/driver/base/charge.hpp"
#include "tests/sim/driver/base/process.hpp"
#include "tests/sim/driver/context/context.hpp"
#include "tests/sim/driver/mapping/address_space.hpp"
#include "tests/sim/driver/stream/observer.hpp"

namespace simgpu {

Pool::Pool(const Process& process, Observer& observer, Holdings& holdings, std::uint32_t ordinal,
           const Properties& properties)
    : process_(process),
      observer_(observer),
      holdings_(holdings),
      ordinal_(ordinal),
      properties_(properties) {
    access_.set(ordinal, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
}

void Pool::retire() {
    retired_ = true;
    set_threshold(0);
    trim(0);
}

Access Pool::access() const {
    const std::lock_guard lock(mutex_);
    return access_;
}

void Pool::set_access(std::uint32_t ordinal, CUmemAccess_flags flags) {
    const std::lock_guard lock(mutex_);
    access_.set(ordinal, flags);
}

std::optional<Pool::Place> Pool::locate(std::uint64_t address) const {
    const std::lock_guard lock(mutex_);
    const auto after = segments_.upper_bound(address);
    if (after == segments_.begin()) return std::nullopt;
    const auto& [base, segment] = *std::prev(after);
    if (address - base >= segment->bytes()) return std::nullopt;
    return Place{segment->name(), address - base};
}

bool Pool::take(Stream& stream, std::uint64_t size, std::uint64_t& address) {
    // No lock is held while submitting: a full queue makes that wait for effects, and the effects need the
    // lock.
    std::vector<Wait> waits;
    bool taken = false;
    {
        const std::lock_guard lock(mutex_);
        taken = take_now(size, address) || take_from_pending(stream.queue, size, address, waits) ||
                (grow(size) && take_now(size, address));
    }
    for (const Wait& wait : waits) stream.context.submit_wait(stream, *wait.queue, wait.sequence);
    if (taken) return true;
    // What was freed in other streams may be available by now.
    observer_.observe();
    trim(0);
    const std::lock_guard lock(mutex_);
    return take_now(size, address) || (grow(size) && take_now(size, address));
}

bool Pool::take_now(std::uint64_t size, std::uint64_t& address) {
    const auto taken = heap_.take(size);
    if (!taken) return false;
    address = *taken;
    used_ = heap_.used();
    used_high_ = std::max(used_high_, used_);
    return true;
}

bool Pool::take_from_pending(const Queue& queue, std::uint64_t size, std::uint64_t& address,
                             std::vector<Wait>& waits) {
    for (const bool same_queue : {true, false}) {
        for (auto pending = pending_.begin(); pending != pending_.end();) {
            if ((pending->queue == &queue) != same_queue || !pending->sequence) {
                ++pending;
                continue;
            }
            if (!same_queue) waits.push_back({pending->queue, *pending->sequence});
            heap_.give_back(pending->address);
            pending = pending_.erase(pending);
            if (take_now(size, address)) return true;
        }
    }
    return false;
}

bool Pool::grow(std::uint64_t size) {
    const std::uint64_t bytes = round_up(size, kBlock);
    if (bytes > kLongestAllocation) return false;
    if (properties_.max_size != 0 && heap_.reserved() + bytes > properties_.max_size) return false;
    const std::uint32_t gpu = process_.gpu_of(ordinal_);
    const bool shared = properties_.shared_serial != 0;
    const std::uint64_t base = map_device_memory(bytes);
    if (base == 0) return false;
    SharedMemoryPointer segment = shared ? holdings_.create(gpu, bytes) : nullptr;
    const bool paid = shared ? segment && segment->map_at(base) : charge(process_, gpu, bytes);
    if (!paid) {
        unmap_device_memory(base, bytes);
        return false;
    }
    if (shared) segments_[base] = std::move(segment);
    heap_.add({base, bytes});
    reserved_high_ = std::max(reserved_high_, heap_.reserved());
    return true;
}

void Pool::give_back(std::uint64_t address) {
    const std::lock_guard lock(mutex_);
    heap_.give_back(address);
    used_ = heap_.used();
    if (retired_) trim_locked(0);
}

void Pool::give_back_in_order(Stream& stream, std::uint64_t address) {
    std::uint64_t number = 0;
    {
        const std::lock_guard lock(mutex_);
        number = next_number_++;
        pending_.push_back({number, address, &stream.queue, std::nullopt});
    }
    Operation operation;
    operation.effect = [this, number](const Record&) { finish(number); };
    const std::uint64_t sequence = stream.context.submit(stream, std::move(operation));
    const std::lock_guard lock(mutex_);
    for (Pending& pending : pending_) {
        if (pending.number == number) pending.sequence = sequence;
    }
}

/// Does nothing where the memory was taken again before.
void Pool::finish(std::uint64_t number) {
    const std::lock_guard lock(mutex_);
    const auto pending = std::find_if(pending_.begin(), pending_.end(),
                                      [number](const Pending& p) { return p.number == number; });
    if (pending == pending_.end()) return;
    heap_.give_back(pending->address);
    pending_.erase(pending);
    used_ = heap_.used();
    if (retired_) trim_locked(0);
}

void Pool::trim(std::uint64_t keep) {
    const std::lock_guard lock(mutex_);
    trim_locked(keep);
}

void Pool::trim_locked(std::uint64_t keep) {
    for (const BlockHeap::Region& region : heap_.remove_empty(keep)) {
        unmap_device_memory(region.base, region.size);
        // The charge moves with the segment.
        if (segments_.erase(region.base) == 0) refund(process_, process_.gpu_of(ordinal_), region.size);
    }
}

std::uint64_t Pool::threshold() const {
    const std::lock_guard lock(mutex_);
    return threshold_;
}

void Pool::set_threshold(std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    threshold_ = bytes;
}

Pool::Usage Pool::usage() const {
    const std::lock_guard lock(mutex_);
    return {heap_.reserved(), reserved_high_, used_, used_high_};
}

void Pool::reset_reserved_high() {
    const std::lock_guard lock(mutex_);
    reserved_high_ = heap_.reserved();
}

void Pool::reset_used_high() {
    const std::lock_guard lock(mutex_);
    used_high_ = used_;
}

}  // namespace simgpu
