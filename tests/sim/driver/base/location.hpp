#pragma once

#include "tests/sim/driver/base/access.hpp"
#include "tests/sim/driver/base/process.hpp"

namespace simgpu {

/// Checks that the location is a GPU of this process, or the host.
/// @return CUDA_ERROR_INVALID_DEVICE for an ordinal that does not exist, CUDA_ERROR_INVALID_VALUE for others.
inline CUresult check_location(const Process& process, const CUmemLocation& location) {
    switch (location.type) {
        case CU_MEM_LOCATION_TYPE_DEVICE:
            return process.is_ordinal(location.id) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
        case CU_MEM_LOCATION_TYPE_HOST:
        case CU_MEM_LOCATION_TYPE_HOST_NUMA:
            return CUDA_SUCCESS;
        case CU_MEM_LOCATION_TYPE_INVALID:
        case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
            break;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

inline bool are_access_flags(CUmemAccess_flags flags) {
    return flags == CU_MEM_ACCESS_FLAGS_PROT_NONE || flags == CU_MEM_ACCESS_FLAGS_PROT_READ ||
           flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
}

/// Returns the access of a location that was checked.
inline CUmemAccess_flags access_of(const Access& access, const CUmemLocation& location) {
    return location.type == CU_MEM_LOCATION_TYPE_DEVICE ? access.of(static_cast<std::uint32_t>(location.id))
                                                        : access.of_host();
}

}  // namespace simgpu
