#pragma once

#include <cstddef>
#include <cstdint>

#include "module/front/compute/gate.hpp"

namespace cgpu::front {

/// Memsets and copies on one GPU are work like kernels: those of at least this many bytes pass the gate.
/// Smaller ones take the GPU less time than determining where their memory is.
constexpr std::uint64_t kLargeTransfer = 64 << 10;

void count_small_transfer();

/// Whether a transfer of that size is to be gated, if it is within a GPU. A smaller one is counted, so that
/// cgpud knows of work that nobody measures.
inline bool is_large(std::uint64_t bytes) {
    if (bytes >= kLargeTransfer) [[likely]]
        return true;
    count_small_transfer();
    return false;
}

enum class Transfer { fill, copy, decompress };

/// The key of transfers that take about the same time (a quarter of an octave of sizes), in the role of a
/// kernel's function.
const void* length_class(Transfer transfer, std::uint64_t bytes);

/// `stream` as the plain functions take it.
template <class Call>
CUresult gated_transfer(Transfer transfer, std::uint64_t bytes, CUstream stream, Call call) {
    if (!is_large(bytes)) return call();
    return gated({length_class(transfer, bytes), stream, nullptr}, call);
}

/// Whether both are memory of one GPU. Asks the driver.
bool within_a_gpu(CUdeviceptr to, CUdeviceptr from);

/// The same for a copy between boxes of memory and arrays; `bytes` are its bytes.
bool within_a_gpu(const CUmemcpy2D& copy);
bool within_a_gpu(const CUmemcpy3D& copy);
bool within_a_gpu(const CUmemcpy3DOp& copy);

/// The bytes that it copies; at most so many if one end is an array, whose elements have a size that only the
/// driver knows.
std::uint64_t most_bytes(const CUmemcpy3DOp& copy);

/// The same for a copy whose ends may be on two GPUs. On which GPU an array is isn't known: it counts as
/// being on the other end's.
bool within_one_of_the_gpus(const CUmemcpy3D& copy);

}  // namespace cgpu::front
