#pragma once

#include "tests/sim/test/support/support.hpp"

// For children: physical memory and its mappings, with REQUIRE on every step.
namespace simgpu::test {

inline CUmemAllocationProp on_gpu(int device,
                                  CUmemAllocationHandleType handle_type = CU_MEM_HANDLE_TYPE_NONE) {
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.requestedHandleTypes = handle_type;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
    return properties;
}

inline CUmemGenericAllocationHandle create(const CUmemAllocationProp& properties, std::size_t bytes) {
    CUmemGenericAllocationHandle handle = 0;
    REQUIRE_OK(cuMemCreate(&handle, bytes, &properties, 0));
    return handle;
}

inline CUmemGenericAllocationHandle import_memory(int descriptor) {
    CUmemGenericAllocationHandle handle = 0;
    REQUIRE_OK(cuMemImportFromShareableHandle(&handle, as_shareable(descriptor),
                                              CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    return handle;
}

inline CUdeviceptr reserve(std::size_t bytes) {
    CUdeviceptr pointer = 0;
    REQUIRE_OK(cuMemAddressReserve(&pointer, bytes, 0, 0, 0));
    return pointer;
}

inline void allow(CUdeviceptr pointer, std::size_t bytes, int device,
                  CUmemAccess_flags flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE) {
    const CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, device}, flags};
    REQUIRE_OK(cuMemSetAccess(pointer, bytes, &access, 1));
}

/// Mapped and accessible for device 0.
inline CUdeviceptr map(CUmemGenericAllocationHandle handle, std::size_t bytes) {
    const CUdeviceptr pointer = reserve(bytes);
    REQUIRE_OK(cuMemMap(pointer, bytes, 0, handle, 0));
    allow(pointer, bytes, 0);
    return pointer;
}

inline void unmap(CUdeviceptr pointer, std::size_t bytes) {
    REQUIRE_OK(cuMemUnmap(pointer, bytes));
    REQUIRE_OK(cuMemAddressFree(pointer, bytes));
}

inline unsigned int read_word(CUdeviceptr pointer) {
    unsigned int word = 0;
    REQUIRE_OK(cuMemcpyDtoH(&word, pointer, sizeof word));
    return word;
}

}  // namespace simgpu::test
