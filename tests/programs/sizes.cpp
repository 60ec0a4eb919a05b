// Tells what single allocations take from the device: it compares the free memory before and after several of
// a kind.
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "tests/programs/support/common.hpp"
#include "tests/programs/support/options.hpp"
#include "tests/sim/include/simgpu/cuda_memory.h"

namespace {

using programs::must;
using programs::say;

/// Allocates one, and returns how to free it.
using Get = std::function<std::function<void()>()>;

struct Kind {
    const char* name;
    Get get;
};

Get plain(std::size_t bytes) {
    return [=] {
        CUdeviceptr pointer = 0;
        must(cuMemAlloc(&pointer, bytes), "cuMemAlloc");
        return [=] { must(cuMemFree(pointer), "cuMemFree"); };
    };
}

Get pitch(std::size_t width, std::size_t height) {
    return [=] {
        CUdeviceptr pointer = 0;
        std::size_t row = 0;
        must(cuMemAllocPitch(&pointer, &row, width, height, 4), "cuMemAllocPitch");
        return [=] { must(cuMemFree(pointer), "cuMemFree"); };
    };
}

CUDA_ARRAY3D_DESCRIPTOR shape(std::size_t width, std::size_t height, std::size_t depth, CUarray_format format,
                              unsigned int channels, unsigned int flags) {
    CUDA_ARRAY3D_DESCRIPTOR descriptor{};
    descriptor.Width = width;
    descriptor.Height = height;
    descriptor.Depth = depth;
    descriptor.Format = format;
    descriptor.NumChannels = channels;
    descriptor.Flags = flags;
    return descriptor;
}

Get array(const CUDA_ARRAY3D_DESCRIPTOR& descriptor) {
    return [=] {
        CUarray array = nullptr;
        must(cuArray3DCreate(&array, &descriptor), "cuArray3DCreate");
        return [=] { must(cuArrayDestroy(array), "cuArrayDestroy"); };
    };
}

Get mipmapped(const CUDA_ARRAY3D_DESCRIPTOR& descriptor, unsigned int levels) {
    return [=] {
        CUmipmappedArray array = nullptr;
        must(cuMipmappedArrayCreate(&array, &descriptor, levels), "cuMipmappedArrayCreate");
        return [=] { must(cuMipmappedArrayDestroy(array), "cuMipmappedArrayDestroy"); };
    };
}

std::vector<Kind> kinds() {
    constexpr auto kByte = CU_AD_FORMAT_UNSIGNED_INT8;
    constexpr auto kHalf = CU_AD_FORMAT_HALF;
    constexpr auto kFloat = CU_AD_FORMAT_FLOAT;
    return {
        {"plain:3000000", plain(3'000'000)},
        {"pitch:1000x1000", pitch(1000, 1000)},
        {"pitch:65537x64", pitch(65537, 64)},
        {"array-1d:100000:u8x1", array(shape(100'000, 0, 0, kByte, 1, 0))},
        {"array-2d:1000x1000:u8x1", array(shape(1000, 1000, 0, kByte, 1, 0))},
        {"array-2d:1920x1080:u8x4", array(shape(1920, 1080, 0, kByte, 4, 0))},
        {"array-2d:4096x4096:f32x1", array(shape(4096, 4096, 0, kFloat, 1, 0))},
        {"array-2d:20000x5:f32x4", array(shape(20'000, 5, 0, kFloat, 4, 0))},
        {"array-3d:100x100x100:f32x1", array(shape(100, 100, 100, kFloat, 1, 0))},
        {"array-3d:33x17x500:f16x2", array(shape(33, 17, 500, kHalf, 2, 0))},
        {"layered:500x500x6:f16x4", array(shape(500, 500, 6, kHalf, 4, CUDA_ARRAY3D_LAYERED))},
        {"mipmapped:1000x1000:u8x4:10", mipmapped(shape(1000, 1000, 0, kByte, 4, 0), 10)},
        {"mipmapped:100x100x100:f32x1:7", mipmapped(shape(100, 100, 100, kFloat, 1, 0), 7)},
    };
}

std::size_t free_now() {
    std::size_t free = 0;
    std::size_t total = 0;
    must(cuMemGetInfo(&free, &total), "cuMemGetInfo");
    return free;
}

}  // namespace

int main(int argc, char** argv) {
    programs::Options options(
        "Prints 'size KIND BYTES' for allocations of many kinds: what each took, on average");
    std::size_t count = 8;
    int device = 0;
    options.value("--count", count, "Of each kind").positive();
    options.value("--device", device);
    if (const auto status = options.parse(argc, argv)) return *status;

    programs::use_device(device);
    for (const Kind& kind : kinds()) {
        const std::size_t before = free_now();
        std::vector<std::function<void()>> held;
        for (std::size_t i = 0; i < count; ++i) held.push_back(kind.get());
        const std::size_t after = free_now();
        say("size", std::string(kind.name) + " " + std::to_string((before - after) / count));
        for (const auto& let_go : held) let_go();
    }
    return 0;
}
