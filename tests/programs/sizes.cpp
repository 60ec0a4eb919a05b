// Tells what single allocations take from the device: it compares the free memory before and after several of
// a kind.
#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/programs/support/common.hpp"
#include "tests/programs/support/options.hpp"
#include "tests/sim/include/simgpu/cuda_memory.h"

namespace {

using programs::must;
using programs::say;

/// Allocates one, and returns how to free it.
using Get = std::function<std::function<void()>()>;

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

struct Kind {
    std::string name;
    Get get;
    std::size_t bytes;  ///< of the elements alone
};

std::vector<std::string> split(const std::string& text, char at) {
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, at);) parts.push_back(part);
    return parts;
}

struct Format {
    CUarray_format format;
    std::size_t bytes;
};

const std::map<std::string, Format>& formats() {
    static const std::map<std::string, Format> all = {{"u8", {CU_AD_FORMAT_UNSIGNED_INT8, 1}},
                                                      {"f16", {CU_AD_FORMAT_HALF, 2}},
                                                      {"f32", {CU_AD_FORMAT_FLOAT, 4}}};
    return all;
}

/// Reads a kind such as "array:1000x1000:u8x4", with the sizes of one to three dimensions: bytes of "plain",
/// bytes of a row and rows of "pitch", elements of the others. "layered" and "cube" have their layers last,
/// "mipmapped" has the number of levels in a fourth part.
Kind parse(const std::string& name) {
    const auto parts = split(name, ':');
    std::vector<std::size_t> sizes;
    for (const auto& size : split(parts.at(1), 'x')) sizes.push_back(std::stoull(size));
    if (parts[0] == "plain") return {name, plain(sizes.at(0)), sizes[0]};
    if (parts[0] == "pitch") return {name, pitch(sizes.at(0), sizes.at(1)), sizes[0] * sizes[1]};

    const auto element = split(parts.at(2), 'x');
    const Format format = formats().at(element.at(0));
    CUDA_ARRAY3D_DESCRIPTOR shape{};
    shape.Format = format.format;
    shape.NumChannels = static_cast<unsigned int>(std::stoul(element.at(1)));
    shape.Width = sizes.at(0);
    if (parts[0] == "layered") shape.Flags = CUDA_ARRAY3D_LAYERED;
    if (parts[0] == "cube") shape.Flags = CUDA_ARRAY3D_CUBEMAP;
    if (parts[0] == "surface") shape.Flags = CUDA_ARRAY3D_SURFACE_LDST;
    const bool line_of_layers = shape.Flags == CUDA_ARRAY3D_LAYERED && sizes.size() == 2;
    if (sizes.size() > 1) (line_of_layers ? shape.Depth : shape.Height) = sizes[1];
    if (sizes.size() > 2) shape.Depth = sizes[2];
    std::size_t bytes = format.bytes * shape.NumChannels;
    for (const std::size_t size : sizes) bytes *= size;
    if (parts[0] == "mipmapped")
        return {name, mipmapped(shape, static_cast<unsigned int>(std::stoul(parts.at(3)))), bytes};
    return {name, array(shape), bytes};
}

std::size_t free_now() {
    std::size_t free = 0;
    std::size_t total = 0;
    must(cuMemGetInfo(&free, &total), "cuMemGetInfo");
    return free;
}

/// What one of `count` takes. Something else may change meanwhile: in a job, what the driver shows of the
/// process's context.
std::size_t size_of(const Kind& kind, std::size_t count) {
    constexpr std::size_t kMost = std::size_t{1} << 30;
    const std::size_t some = std::clamp<std::size_t>(kMost / kind.bytes, 1, count);
    const std::size_t before = free_now();
    std::vector<std::function<void()>> held;
    for (std::size_t i = 0; i < some; ++i) held.push_back(kind.get());
    const std::size_t after = free_now();
    for (const auto& let_go : held) let_go();
    return (before - after) / some;
}

}  // namespace

int main(int argc, char** argv) {
    programs::Options options(
        "Prints 'size KIND BYTES' for allocations of many kinds: what each took, on average, when two looks "
        "agreed");
    std::size_t count = 8;
    int device = 0;
    std::vector<std::string> kinds;
    options.value("--count", count, "Of each kind, but fewer of those that would take gigabytes").positive();
    options.value("--device", device);
    options.value("KIND", kinds, "plain:BYTES, pitch:WIDTHxROWS, array:SIZES:FORMATxCHANNELS, …").required();
    if (const auto status = options.parse(argc, argv)) return *status;

    programs::use_device(device);
    plain(1)()();  // in a job the context's size is known after the first allocation
    for (const std::string& name : kinds) {
        const Kind kind = parse(name);
        std::size_t size = size_of(kind, count);
        for (int more = 0; more < 4; ++more) {
            const std::size_t again = size_of(kind, count);
            if (std::exchange(size, again) == again) break;
        }
        say("size", kind.name + " " + std::to_string(size));
    }
    return 0;
}
