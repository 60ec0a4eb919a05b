#pragma once

#include "tests/sim/driver/base/abi.hpp"
#include "tests/sim/driver/graph/transfer.hpp"

namespace simgpu {

/// The 3D copy of one slice that does the same.
CUDA_MEMCPY3D deepened(const CUDA_MEMCPY2D& flat);

/// Returns the bytes that a 3D copy moves. @return CUDA_ERROR_INVALID_VALUE where it describes none that can
/// be moved: an invalid array, a box that exceeds the array, no memory, or rows that overlap.
CUresult transfer_of(const CUDA_MEMCPY3D& copy, Transfer& transfer);

/// What the calls for 2D and 3D copies do. @param copy nullptr gives CUDA_ERROR_INVALID_VALUE.
CUresult copy_described(const CUDA_MEMCPY3D* copy, CUstream stream, Completion completion);

}  // namespace simgpu
