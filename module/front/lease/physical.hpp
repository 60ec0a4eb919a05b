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
/// process, its descriptors apart. If another process of the instance then still holds it, the driver's
/// figure for that process shows it.
///
/// Descriptors may be copied and passed to anybody, and the kernel doesn't tell when the last of them is
/// closed. So memory that was exported is surrendered when nothing else keeps it here: from then on cgpud
/// counts it, until the GPU's figures show that it is free. Before the first export of a memory cgpud is told
/// of it, because the process may end at any time.
///
/// Memory at an address (cuMemAlloc) is here only if it was exported.
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
    /// Memory is about to be exported: the one with this handle, ...
    void will_export(CUmemGenericAllocationHandle handle);
    /// ... what is mapped in this range (false: nothing of ours is), ...
    bool will_export_range(CUdeviceptr begin, std::size_t bytes);
    /// ... the allocation that begins at this address.
    void will_export_allocation(CUdeviceptr address);
    /// The memory with this handle was exported as this descriptor. (No function opens those of address
    /// ranges in CUDA again.)
    void exported(CUmemGenericAllocationHandle handle, int descriptor);
    /// An allocation was freed. False: it was not exported, so its charge must be ended as any other.
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

    void reset_in_child();

  private:
    /// Whether this process still holds memory, whatever descriptors there are. `unknown`: it doesn't, but
    /// it was exported.
    enum class Held { yes, no, unknown };
    struct Charge;
    struct Handle;
    struct Mapping;
    struct Export;

    bool note_handle(CUmemGenericAllocationHandle value, Memory& memory);
    static void note_export(Memory& memory);
    Memory* find(CUmemGenericAllocationHandle handle) const;
    const Export* find_export(int descriptor) const;
    Held look_at(Memory& memory, Charge& charge);
    static void settle(const Charge& charge, Held held);

    Mutex mutex_;
    Handle* handles_ = nullptr;
    Handle* allocations_ = nullptr;            ///< their values are addresses
    std::atomic<bool> any_allocation_{false};  ///< there has been one in this process
    Mapping* mappings_ = nullptr;
    Export* exports_ = nullptr;
};

Physical& physical();

}  // namespace cgpu::front
