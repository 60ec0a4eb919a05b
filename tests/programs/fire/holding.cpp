#include "tests/programs/fire/holding.hpp"

namespace programs::fire {
namespace {

constexpr std::uint64_t kBlock = 2U << 20;
constexpr std::uint64_t kRow = 65536;  // of pitch memory and arrays: no padding, and whole blocks of 32 rows

std::uint64_t up_to(std::uint64_t bytes, std::uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

CUresult get_pitch(std::uint64_t bytes, CUdeviceptr& address) {
    std::size_t pitch = 0;
    return cuMemAllocPitch(&address, &pitch, kRow, bytes / kRow, 4);
}

CUresult get_array(std::uint64_t bytes, CUarray& array) {
    const CUDA_ARRAY_DESCRIPTOR descriptor{kRow, bytes / kRow, CU_AD_FORMAT_UNSIGNED_INT8, 1};
    return cuArrayCreate(&array, &descriptor);
}

CUresult get_mapped(int device, std::uint64_t bytes, CUdeviceptr& address) {
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
    CUmemGenericAllocationHandle memory = 0;
    CUresult result = cuMemCreate(&memory, bytes, &properties, 0);
    if (result != CUDA_SUCCESS) return result;
    result = cuMemAddressReserve(&address, bytes, 0, 0, 0);
    if (result == CUDA_SUCCESS) result = cuMemMap(address, bytes, 0, memory, 0);
    const CUresult released = cuMemRelease(memory);
    return result != CUDA_SUCCESS ? result : released;
}

CUresult give_mapped_back(CUdeviceptr address, std::uint64_t bytes) {
    const CUresult result = cuMemUnmap(address, bytes);
    return result != CUDA_SUCCESS ? result : cuMemAddressFree(address, bytes);
}

}  // namespace

const char* name_of(Way way) {
    switch (way) {
        case Way::plain:
            return "plain";
        case Way::pitch:
            return "pitch";
        case Way::array:
            return "array";
        case Way::async:
            return "async";
        case Way::pool:
            return "pool";
        case Way::mapped:
            return "mapped";
    }
    return "none";
}

std::uint64_t size_for(Way way, std::uint64_t bytes) {
    switch (way) {
        case Way::plain:
        case Way::async:
        case Way::pool:
            return bytes;
        case Way::pitch:
            return up_to(bytes, kRow);
        case Way::array:
        case Way::mapped:
            return up_to(bytes, kBlock);
    }
    return bytes;
}

std::uint64_t cost_of(std::uint64_t bytes) { return up_to(bytes, kBlock); }

CUresult get(const Place& place, Way way, std::uint64_t bytes, Holding& holding) {
    holding = {way, bytes, 0, nullptr};
    switch (way) {
        case Way::plain:
            return cuMemAlloc(&holding.address, bytes);
        case Way::pitch:
            return get_pitch(bytes, holding.address);
        case Way::array:
            return get_array(bytes, holding.array);
        case Way::async:
            return cuMemAllocAsync(&holding.address, bytes, place.stream);
        case Way::pool:
            return cuMemAllocFromPoolAsync(&holding.address, bytes, place.pool, place.stream);
        case Way::mapped:
            return get_mapped(place.device, bytes, holding.address);
    }
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult give_back(const Place& place, const Holding& holding) {
    switch (holding.way) {
        case Way::plain:
        case Way::pitch:
            return cuMemFree(holding.address);
        case Way::array:
            return cuArrayDestroy(holding.array);
        case Way::async:
        case Way::pool:
            return cuMemFreeAsync(holding.address, place.stream);
        case Way::mapped:
            return give_mapped_back(holding.address, holding.bytes);
    }
    return CUDA_ERROR_INVALID_VALUE;
}

}  // namespace programs::fire
