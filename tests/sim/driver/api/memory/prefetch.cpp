#include "tests/sim/driver/runtime/stream_handle.hpp"

using namespace simgpu;

namespace {

/// Managed memory lies on its device here, so there is nothing to move. The GPUs can't read pageable memory,
/// so that is refused, as NVIDIA documents it.
CUresult prefetch(CUdeviceptr address, std::size_t bytes, CUstream handle) {
    Stream* stream = nullptr;
    if (const CUresult result = find_stream_for_work(handle, stream); result != CUDA_SUCCESS) return result;
    const auto found = stream->context.runtime().memory().find(address);
    const bool managed = found && found->kind == MemoryKind::managed &&
                         address - found->address <= found->size &&
                         bytes <= found->size - (address - found->address);
    return managed ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

extern "C" {

CUresult cuMemPrefetchAsync(CUdeviceptr address, std::size_t bytes, CUdevice, CUstream stream) {
    return prefetch(address, bytes, stream);
}
SIMGPU_PTSZ(cuMemPrefetchAsync, (CUdeviceptr address, std::size_t bytes, CUdevice device, CUstream stream),
            (address, bytes, device, per_thread(stream)))

CUresult cuMemPrefetchAsync_v2(CUdeviceptr address, std::size_t bytes, CUmemLocation, unsigned int flags,
                               CUstream stream) {
    return flags != 0 ? CUDA_ERROR_INVALID_VALUE : prefetch(address, bytes, stream);
}
SIMGPU_PTSZ(cuMemPrefetchAsync_v2,
            (CUdeviceptr address, std::size_t bytes, CUmemLocation location, unsigned int flags,
             CUstream stream),
            (address, bytes, location, flags, per_thread(stream)))

CUresult cuMemPrefetchBatchAsync(CUdeviceptr* addresses, std::size_t* bytes, std::size_t count,
                                 CUmemLocation* locations, std::size_t* indices, std::size_t location_count,
                                 unsigned long long flags, CUstream stream) {
    if (!addresses || !bytes || count == 0 || !locations || !indices || location_count == 0 ||
        location_count > count || indices[0] != 0 || flags != 0 || !stream || stream == CU_STREAM_LEGACY)
        return CUDA_ERROR_INVALID_VALUE;
    for (std::size_t i = 0; i < count; ++i)
        if (const CUresult result = prefetch(addresses[i], bytes[i], stream); result != CUDA_SUCCESS)
            return result;
    return CUDA_SUCCESS;
}
SIMGPU_PTSZ(cuMemPrefetchBatchAsync,
            (CUdeviceptr * addresses, std::size_t* bytes, std::size_t count, CUmemLocation* locations,
             std::size_t* indices, std::size_t location_count, unsigned long long flags, CUstream stream),
            (addresses, bytes, count, locations, indices, location_count, flags, per_thread(stream)))

/// What is discarded has undefined content.
CUresult cuMemDiscardAndPrefetchBatchAsync(CUdeviceptr* addresses, std::size_t* bytes, std::size_t count,
                                           CUmemLocation* locations, std::size_t* indices,
                                           std::size_t location_count, unsigned long long flags,
                                           CUstream stream) {
    return cuMemPrefetchBatchAsync(addresses, bytes, count, locations, indices, location_count, flags,
                                   stream);
}
SIMGPU_PTSZ(cuMemDiscardAndPrefetchBatchAsync,
            (CUdeviceptr * addresses, std::size_t* bytes, std::size_t count, CUmemLocation* locations,
             std::size_t* indices, std::size_t location_count, unsigned long long flags, CUstream stream),
            (addresses, bytes, count, locations, indices, location_count, flags, per_thread(stream)))

}  // extern "C"
