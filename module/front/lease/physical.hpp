#pragma once

#include <sys/types.h>

#include <atomic>

#include "module/front/base/waiting.hpp"
#include "module/front/driver/cuda_abi.hpp"

namespace cgpu::front {

/// Physical memory made by cuMemCreate lives until all its handles have been released, nothing maps it and
/// all descriptors as which it was exported are closed (CUDA driver API, "Virtual Memory Management"), and
/// while a multicast object or a sparse array uses it (Bindings).
/// Programs release the handle right after mapping it, so its charge ends with the last of these in this
/// process. If another process of the instance then still holds it, the driver's figure for that process
/// shows it.
///
/// Memory at an address (cuMemAlloc) is here only if it was exported as a descriptor, which keeps it alive
/// when it has been freed.
class Physical {
  public:
    struct Memory;
    constexpr Physical() = default;

    /// Memory was created on a GPU and is charged now; returns the key for its charge. A handle would not do:
    /// the driver may give its value to other memory while this memory lives on.
    std::uint64_t created(CUmemGenericAllocationHandle handle, int gpu, std::uint64_t bytes);
    /// Another reference to memory mapped at an address.
    void retained(CUmemGenericAllocationHandle handle, CUdeviceptr address);
    void handle_released(CUmemGenericAllocationHandle handle);
    /// False: the memory isn't one of those above.
    bool mapped(CUdeviceptr address, std::size_t bytes, CUmemGenericAllocationHandle handle);
    void unmapped(CUdeviceptr address, std::size_t bytes);
    void exported(CUmemGenericAllocationHandle handle, int descriptor);
    /// What is mapped in this range was exported. False: nothing of ours is mapped there.
    bool range_exported(CUdeviceptr begin, std::size_t bytes, int descriptor);
    /// The allocation that begins at an address was exported.
    void allocation_exported(CUdeviceptr address, int descriptor);
    /// An allocation was freed, and what descriptors keep of it stays charged. False: it was not exported.
    bool allocation_freed(CUdeviceptr address);
    /// A context has ended, and the charges of its allocations: as if they had been freed.
    void context_ended();
    /// Memory that is about to be opened from a descriptor: null if it isn't ours. One of the two functions
    /// below follows.
    Memory* hold(int descriptor);
    void imported(Memory& held, CUmemGenericAllocationHandle handle);
    void let_go(Memory& held);
    /// Keeps memory until let_go; null if the handle isn't one of ours.
    Memory* hold_handle(CUmemGenericAllocationHandle handle);
    /// The same for the first memory that is mapped at `address` or above it, below `end`; sets `address` to
    /// the end of that mapping. Null: there is none.
    Memory* hold_next(CUdeviceptr& address, CUdeviceptr end);
    static int gpu_of(const Memory& memory);

    /// Ends the charges of memory that only descriptors kept, which are closed now. True: there were some.
    bool drop_closed();
    /// Grows with every charge that any thread has ended in this way.
    [[nodiscard]] std::uint32_t dropped() const { return dropped_.load(); }

    void reset_in_child();

  private:
    /// What keeps memory alive: the same as before, now only open descriptors of this process, or nothing.
    enum class Kept { as_before, only_by_descriptors, no_more };
    struct Charge;
    struct Handle;
    struct Mapping;
    struct Export;

    bool note_handle(CUmemGenericAllocationHandle value, Memory& memory);
    void note_export(int descriptor, Memory& memory);
    Memory* find(CUmemGenericAllocationHandle handle) const;
    const Export* find_export(int descriptor) const;
    void forget_exports(int descriptor);
    void close_exports(const Memory& memory);
    Kept look_at(Memory& memory, Charge& charge);
    static void settle(const Charge& charge, Kept kept);

    Mutex mutex_;
    Handle* handles_ = nullptr;
    Handle* allocations_ = nullptr;  ///< their values are addresses
    std::atomic<std::uint32_t> dropped_{0};
    std::atomic<bool> any_allocation_{false};  ///< there has been one in this process
    Mapping* mappings_ = nullptr;
    Export* exports_ = nullptr;
};

Physical& physical();

}  // namespace cgpu::front
