// Virtual memory management: the addresses.
#include "tests/sim/driver/mapping/virtual_memory.hpp"

#include "tests/sim/driver/base/location.hpp"
#include "tests/sim/driver/graph/capture.hpp"
#include "tests/sim/driver/runtime/runtime.hpp"

using namespace simgpu;

namespace {

CUresult check(const Runtime& runtime, const CUmemAccessDesc* descriptions, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        const CUresult result = check_location(runtime, descriptions[i].location);
        if (result != CUDA_SUCCESS) return result;
        if (!are_access_flags(descriptions[i].flags)) return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

void apply(Access& access, const CUmemAccessDesc& description) {
    if (description.location.type == CU_MEM_LOCATION_TYPE_DEVICE) {
        access.set(static_cast<std::uint32_t>(description.location.id), description.flags);
    } else {
        access.set_host(description.flags);
    }
}

}  // namespace

extern "C" {

CUresult cuMemAddressReserve(CUdeviceptr* pointer, std::size_t size, std::size_t alignment, CUdeviceptr hint,
                             unsigned long long flags) {
    Runtime* runtime = Runtime::get();
    if (!runtime) return CUDA_ERROR_NOT_INITIALIZED;
    if (!pointer || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    std::uint64_t address = 0;
    const CUresult result = runtime->virtual_memory().reserve(size, alignment, hint, address);
    if (result == CUDA_SUCCESS) *pointer = address;
    return result;
}

CUresult cuMemAddressFree(CUdeviceptr pointer, std::size_t size) {
    Runtime* runtime = Runtime::get();
    return runtime ? runtime->virtual_memory().free(pointer, size) : CUDA_ERROR_NOT_INITIALIZED;
}

CUresult cuMemMap(CUdeviceptr pointer, std::size_t size, std::size_t offset,
                  CUmemGenericAllocationHandle handle, unsigned long long flags) {
    Runtime* runtime = Runtime::get();
    if (!runtime) return CUDA_ERROR_NOT_INITIALIZED;
    const auto physical = runtime->physical_handles().find(handle);
    if (!physical || offset != 0 || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    return runtime->virtual_memory().map(pointer, size, physical);
}

CUresult cuMemUnmap(CUdeviceptr pointer, std::size_t size) {
    Runtime* runtime = Runtime::get();
    if (!runtime) return CUDA_ERROR_NOT_INITIALIZED;
    if (const CUresult result = check_unsafe_call(); result != CUDA_SUCCESS) return result;
    runtime->synchronize_all();
    return runtime->virtual_memory().unmap(pointer, size);
}

CUresult cuMemSetAccess(CUdeviceptr pointer, std::size_t size, const CUmemAccessDesc* descriptions,
                        std::size_t count) {
    Runtime* runtime = Runtime::get();
    if (!runtime) return CUDA_ERROR_NOT_INITIALIZED;
    if (!descriptions || count == 0) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult result = check(*runtime, descriptions, count); result != CUDA_SUCCESS) return result;
    return runtime->virtual_memory().change_access(pointer, size, [&](Access& access) {
        for (std::size_t i = 0; i < count; ++i) apply(access, descriptions[i]);
    });
}

CUresult cuMemGetAccess(unsigned long long* flags, const CUmemLocation* location, CUdeviceptr pointer) {
    Runtime* runtime = Runtime::get();
    if (!runtime) return CUDA_ERROR_NOT_INITIALIZED;
    if (!flags || !location) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult result = check_location(*runtime, *location); result != CUDA_SUCCESS) return result;
    const auto mapping = runtime->virtual_memory().mapping_at(pointer);
    if (!mapping) return CUDA_ERROR_INVALID_VALUE;
    *flags = access_of(mapping->access, *location);
    return CUDA_SUCCESS;
}

}  // extern "C"
