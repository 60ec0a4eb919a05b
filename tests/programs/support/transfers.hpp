#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tests/sim/include/simgpu/cuda.h"

namespace programs {

/// Memory of the current context's GPU for transfers of one size.
class Transfers {
  public:
    /// Names of kinds for submit(): single copies by different functions, a batch of boxes, decompression.
    static std::vector<std::string> kinds();

    Transfers(std::string kind, std::size_t bytes);
    /// One transfer of all the bytes within the GPU.
    void submit(CUstream stream) const;

  private:
    void decompress(CUstream stream) const;

    std::string kind_;
    std::size_t bytes_;
    CUcontext context_ = nullptr;
    CUdeviceptr to_ = 0;
    CUdeviceptr from_ = 0;
    CUdeviceptr written_ = 0;
    std::size_t compressed_ = 0;
    void* attributed_ = nullptr;
};

}  // namespace programs
