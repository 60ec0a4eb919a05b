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
class Physical {
  public:
    struct Memory;
    constexpr Physical() = default;

    /// Memory was created on a device and is charged now; returns the key for its charge. A handle would not
    /// do: the driver may give its value to other memory while this memory lives on.
    std::uint64_t created(CUmemGenericAllocationHandle handle, CUdevice device);
    /// Another reference to memory mapped at an address.
    void retained(CUmemGenericAllocationHandle handle, CUdeviceptr address);
    void handle_released(CUmemGenericAllocationHandle handle);
    /// False: the memory isn't one of those above.
    bool mapped(CUdeviceptr address, std::size_t bytes, CUmemGenericAllocationHandle handle);
    void unmapped(CUdeviceptr address, std::size_t bytes);
    void exported(CUmemGenericAllocationHandle handle, int descriptor);
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
    static CUdevice device_of(const Memory& memory);

    /// Ends the charges of memory that only descriptors kept, which are closed now. True: there were some.
    bool drop_closed();

    void reset_in_child();

  private:
    /// What keeps memory alive: this process, only its open descriptors, or nothing.
    enum class Kept { here, by_descriptors, no_more };
    struct Handle;
    struct Mapping;
    struct Export;

    bool note_handle(CUmemGenericAllocationHandle value, Memory& memory);
    Memory* find(CUmemGenericAllocationHandle handle) const;
    const Export* find_export(int descriptor) const;
    void forget_export(int descriptor);
    void close_exports(const Memory& memory);
    Kept look_at(Memory& memory);
    static void settle(std::uint64_t key, Kept kept);

    Mutex mutex_;
    Handle* handles_ = nullptr;
    Mapping* mappings_ = nullptr;
    Export* exports_ = nullptr;
};

Physical& physical();

}  // namespace cgpu::front
