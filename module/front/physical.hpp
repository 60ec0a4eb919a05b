#pragma once

#include "module/front/cuda_abi.hpp"
#include "module/front/waiting.hpp"

namespace cgpu::front {

/// Physical memory made by cuMemCreate lives until its handle has been released as often as it was handed out
/// *and* nothing maps it: programs release the handle right after mapping it. So its charge ends with the
/// last of both.
class Physical {
  public:
    constexpr Physical() = default;

    /// Memory was made and charged. False when out of memory (then its charge ends only with the process).
    bool created(CUmemGenericAllocationHandle handle);
    void retained(CUmemGenericAllocationHandle handle);
    void handle_released(CUmemGenericAllocationHandle handle);
    void mapped(CUdeviceptr address, std::size_t bytes, CUmemGenericAllocationHandle handle);
    void unmapped(CUdeviceptr address, std::size_t bytes);

    void reset_in_child();

  private:
    struct Memory;
    struct Mapping;
    Memory* find(CUmemGenericAllocationHandle handle);
    bool drop_if_unused(Memory& memory);

    Mutex mutex_;
    Memory* memories_ = nullptr;
    Mapping* mappings_ = nullptr;
};

Physical& physical();

}  // namespace cgpu::front
