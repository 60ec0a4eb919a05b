#include "module/front/lease/pools.hpp"

#include <algorithm>
#include <new>

#include "module/front/base/errands.hpp"
#include "module/front/contexts/context_key.hpp"
#include "module/front/contexts/context_table.hpp"
#include "module/front/driver/real_driver.hpp"
#include "module/front/driver/relaxed_capture.hpp"
#include "module/front/lease/gives.hpp"
#include "module/front/session/session.hpp"

namespace cgpu::front {
namespace {

constinit Pools the_pools;

/// Their addresses are the handles of the graph memory of a GPU.
char graphs_on[wire::kMaxGpus];

CUmemoryPool handle_of_graphs(int gpu) { return reinterpret_cast<CUmemoryPool>(graphs_on + gpu); }

/// 0 if the driver doesn't know the pool (any more).
std::uint64_t figure(CUmemoryPool handle, int attribute) {
    std::uint64_t bytes = 0;
    return real::cuMemPoolGetAttribute(handle, attribute, &bytes) == kSuccess ? bytes : 0;
}

std::uint64_t reserved_bytes(CUmemoryPool handle, int gpu) {
    if (handle != handle_of_graphs(gpu)) return figure(handle, kPoolReservedCurrent);
    const CUdevice device = session().device_of(static_cast<std::uint32_t>(gpu));
    std::uint64_t bytes = 0;
    return real::cuDeviceGetGraphMemAttribute(device, kGraphsReservedCurrent, &bytes) == kSuccess ? bytes : 0;
}

void give_back_unused(CUmemoryPool handle, int gpu) {
    if (handle == handle_of_graphs(gpu))
        real::cuDeviceGraphMemTrim(session().device_of(static_cast<std::uint32_t>(gpu)));
    else
        real::cuMemPoolTrimTo(handle, 0);
}

std::uint64_t key_of(CUmemoryPool handle) { return reinterpret_cast<std::uintptr_t>(handle); }

/// The entry can be used for another pool.
void forget(Pool& pool) {
    pool.exported.store(false);
    pool.doomed.store(false);
    pool.looks.store(0);
    pool.last_look = 0;
    pool.bytes = 0;
    pool.gone.store(0);
    pool.handle.store(nullptr);
    pool.pins.store(0);
}

/// As the driver does when the pool from which a device allocates is destroyed.
void put_default_in_place(CUmemoryPool handle, int gpu) {
    const CUdevice device = session().device_of(static_cast<std::uint32_t>(gpu));
    CUmemoryPool current = nullptr;
    CUmemoryPool usual = nullptr;
    if (device < 0 || real::cuDeviceGetMemPool(&current, device) != kSuccess || current != handle) return;
    if (real::cuDeviceGetDefaultMemPool(&usual, device) == kSuccess) real::cuDeviceSetMemPool(device, usual);
}

}  // namespace

/// While this object lives, the driver doesn't destroy the entry's pool.
class Pools::Pin {
  public:
    explicit Pin(Pool& pool) : pool_(pool) {
        auto pins = pool.pins.load();
        while ((pins & Pool::kEnding) == 0 && !pool.pins.compare_exchange_weak(pins, pins + 1)) continue;
        held_ = (pins & Pool::kEnding) == 0;
        if (held_) handle_ = pool.handle.load();
    }
    ~Pin() {
        if (held_ && pool_.pins.fetch_sub(1) == Pool::kEnding + 1) pools().end(pool_);
    }
    Pin(const Pin&) = delete;
    Pin& operator=(const Pin&) = delete;

    /// Null: the entry has no pool, or one that is about to end.
    CUmemoryPool handle() const { return handle_; }
    /// The pool is unused: it ends as soon as no thread queries it.
    void end() { pool_.pins.fetch_or(Pool::kEnding); }

  private:
    Pool& pool_;
    bool held_ = false;
    CUmemoryPool handle_ = nullptr;
};

Pools& pools() { return the_pools; }

Pool* Pools::find(CUmemoryPool handle) {
    if (handle == nullptr) return nullptr;
    for (Pool* pool = first_.load(); pool != nullptr; pool = pool->next)
        if (pool->handle.load() == handle) return pool;
    return nullptr;
}

Pool* Pools::note(CUmemoryPool handle, int gpu) {
    if (Pool* known = find(handle)) return known;
    const Locked lock(mutex_);
    if (Pool* known = find(handle)) return known;
    Pool* entry = first_.load();
    while (entry != nullptr && entry->handle.load() != nullptr) entry = entry->next;
    if (entry == nullptr) {
        entry = new (std::nothrow) Pool;
        if (entry == nullptr) return nullptr;
        entry->next = first_.load();
        first_.store(entry);
    }
    entry->gpu.store(gpu);
    entry->handle.store(handle);
    count_[static_cast<std::size_t>(gpu)].fetch_add(1);
    return entry;
}

Pool* Pools::note_of_graphs(int gpu) { return note(handle_of_graphs(gpu), gpu); }

void Pools::look_at_graphs(int gpu) {
    if (Pool* pool = find(handle_of_graphs(gpu))) look(*pool);
}

std::uint64_t Pools::gone_from_graphs(int gpu) {
    const Pool* pool = find(handle_of_graphs(gpu));
    return pool == nullptr ? 0 : pool->gone.load();
}

std::uint64_t Pools::look(Pool& pool, std::uint64_t reserved) {
    const Uncancelled uncancelled;
    const auto gpu = static_cast<std::uint32_t>(pool.gpu.load());
    // The driver would refuse a query to a thread that captures, or end its capture.
    const RelaxedCapture relaxed;
    Pin pin(pool);
    const CUmemoryPool handle = pin.handle();
    if (handle == nullptr) {
        session().engine().cancel(gpu, reserved);
        return 0;
    }
    // Queries overlap. A later one began after everything that the earlier one's caller had done, so it saw
    // at least that: the result of the one that began last is right.
    const std::uint64_t number = pool.looks.fetch_add(1) + 1;
    const std::uint64_t bytes = reserved_bytes(handle, static_cast<int>(gpu));
    const bool unused = pool.doomed.load() && figure(handle, kPoolUsedCurrent) == 0;
    std::uint64_t lack = 0;
    std::uint64_t freed = 0;
    {
        const Locked lock(mutex_);
        if (number < pool.last_look) {
            session().engine().cancel(gpu, reserved);
            return 0;
        }
        pool.last_look = number;
        freed = pool.bytes - std::min(bytes, pool.bytes);
        pool.gone.fetch_add(freed);
        if (pool.exported.load() && bytes > pool.bytes) gives().will_export(gpu, bytes - pool.bytes);
        pool.bytes = bytes;
        lack = session().engine().resize(gpu, module::Holding::pool, key_of(handle), bytes, reserved);
        session().engine().note_context(module::Holding::pool, key_of(handle),
                                        any_context_key(static_cast<int>(gpu)));
    }
    if (unused) pin.end();
    if (freed > 0 && pool.exported.load())
        gives().surrender(gpu, module::Holding::pool, 0, freed);  // what others have opened of it lives on
    else if (freed > 0)
        errands().note_free();
    return lack;
}

void Pools::look_at_all(int gpu) {
    for (Pool* pool = first_.load(); pool != nullptr; pool = pool->next)
        if (pool->handle.load() != nullptr && pool->gpu.load() == gpu) look(*pool);
}

std::uint64_t Pools::spare(CUmemoryPool handle) {
    const RelaxedCapture relaxed;
    const std::uint64_t used = figure(handle, kPoolUsedCurrent);
    const std::uint64_t reserved = figure(handle, kPoolReservedCurrent);
    return reserved > used ? reserved - used : 0;
}

void Pools::trim(int gpu) {
    const RelaxedCapture relaxed;
    for (Pool* pool = first_.load(); pool != nullptr; pool = pool->next) {
        if (pool->gpu.load() != gpu) continue;
        const Pin pin(*pool);
        if (pin.handle() == nullptr) continue;
        give_back_unused(pin.handle(), gpu);
        look(*pool);
    }
}

void Pools::will_export(Pool& pool) {
    look(pool);
    const Locked lock(mutex_);
    if (!pool.exported.exchange(true))
        gives().will_export(static_cast<std::uint32_t>(pool.gpu.load()), pool.bytes);
}

CUresult Pools::destroy(Pool& pool) {
    const CUmemoryPool handle = pool.handle.load();
    put_default_in_place(handle, pool.gpu.load());
    pool.doomed.store(true);
    look(pool);
    return kSuccess;
}

/// A destroyed pool is unused, and no thread queries it.
void Pools::end(Pool& pool) {
    const CUmemoryPool handle = pool.handle.load();
    count_[static_cast<std::size_t>(pool.gpu.load())].fetch_sub(1);
    // In this order, because the driver may give the handle to another thread's pool at once.
    if (pool.exported.load())
        gives().surrender(static_cast<std::uint32_t>(pool.gpu.load()), module::Holding::pool, key_of(handle),
                          pool.bytes);
    else
        session().engine().release(module::Holding::pool, key_of(handle));
    {
        const Locked lock(mutex_);
        forget(pool);
    }
    errands().note_free();
    real::cuMemPoolDestroy(handle);
}

void Pools::reset_in_child() {
    mutex_.reset_in_child();
    for (Pool* pool = first_.load(); pool != nullptr; pool = pool->next) {
        forget(*pool);
    }
    for (auto& count : count_) count.store(0);
}

}  // namespace cgpu::front
