#include "module/front/compute/transfer.hpp"

#include <algorithm>
#include <bit>

#include "module/front/driver/real_driver.hpp"

namespace cgpu::front {
namespace real {
CGPU_REAL(cuPointerGetAttribute, void*, int, CUdeviceptr)
}  // namespace real

namespace {

/// The GPU whose memory is at an address; -1: host memory, or unknown.
int device_of(CUdeviceptr address) {
    unsigned type = 0;
    int device = -1;
    const bool on_device = real::cuPointerGetAttribute(&type, kPointerMemoryType, address) == kSuccess &&
                           type == kMemoryDevice &&
                           real::cuPointerGetAttribute(&device, kPointerDevice, address) == kSuccess;
    return on_device ? device : -1;
}

struct End {
    unsigned type;
    CUdeviceptr address;
};

bool on_device(const End& end) {
    if (end.type == kMemoryUnified) return device_of(end.address) >= 0;
    return end.type == kMemoryDevice || end.type == kMemoryArray;
}

}  // namespace

void count_small_transfer() {
    if (!session().is_on()) return;
    if (wire::Reports* reports = session().pages().reports())
        reports->small_transfers.fetch_add(1, std::memory_order_relaxed);
}

const void* length_class(Transfer transfer, std::uint64_t bytes) {
    constexpr unsigned kSizes = 256;
    static const char marks[3][kSizes] = {};
    const auto octave = static_cast<unsigned>(std::bit_width(bytes | 4)) - 1;
    const auto quarter = static_cast<unsigned>(bytes >> (octave - 2)) & 3;
    return &marks[static_cast<unsigned>(transfer)][(octave * 4 + quarter) % kSizes];
}

bool within_a_gpu(CUdeviceptr to, CUdeviceptr from) {
    const int device = device_of(to);
    return device >= 0 && device == device_of(from);
}

bool within_a_gpu(const CUmemcpy2D& copy) {
    return on_device({copy.from.type, copy.from.address}) && on_device({copy.to.type, copy.to.address});
}

bool within_a_gpu(const CUmemcpy3D& copy) {
    return on_device({copy.from.type, copy.from.address}) && on_device({copy.to.type, copy.to.address});
}

bool within_a_gpu(const CUmemcpy3DOp& copy) {
    const bool from_array = copy.from.type == kOperandArray;
    const bool to_array = copy.to.type == kOperandArray;
    if (!from_array && !to_array) return within_a_gpu(copy.to.pointer.address, copy.from.pointer.address);
    return (from_array || device_of(copy.from.pointer.address) >= 0) &&
           (to_array || device_of(copy.to.pointer.address) >= 0);
}

std::uint64_t most_bytes(const CUmemcpy3DOp& copy) {
    constexpr std::uint64_t kLargestElement = 16;
    const bool has_array = copy.from.type == kOperandArray || copy.to.type == kOperandArray;
    return copy.extent[0] * copy.extent[1] * copy.extent[2] * (has_array ? kLargestElement : 1);
}

bool within_one_of_the_gpus(const CUmemcpy3D& copy) {
    if (!within_a_gpu(copy)) return false;
    if (copy.from.type == kMemoryArray || copy.to.type == kMemoryArray) return true;
    return within_a_gpu(copy.to.address, copy.from.address);
}

}  // namespace cgpu::front
