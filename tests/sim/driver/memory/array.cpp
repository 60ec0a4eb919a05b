#include "tests/sim/driver/memory/array.hpp"

#include <algorithm>

#include "tests/sim/model/block_heap.hpp"

namespace simgpu {

std::unique_ptr<MipmappedArray> make_mipmapped_array(const CUDA_ARRAY3D_DESCRIPTOR& descriptor,
                                                     unsigned int level_count, CUresult& result) {
    auto array = std::make_unique<MipmappedArray>();
    array->descriptor = descriptor;
    const unsigned int count = std::clamp(level_count, 1U, std::max(most_levels(descriptor), 1U));
    for (unsigned int l = 0; l < count; ++l) {
        auto level = std::make_unique<Array>();
        level->descriptor = level_of(descriptor, l);
        result = lay_out(level->descriptor, level->layout);
        if (result != CUDA_SUCCESS) return nullptr;
        level->is_level = true;
        array->bytes += round_up(level->layout.bytes, kGranule);
        array->levels.push_back(std::move(level));
    }
    array->bytes = round_up(array->bytes, kArrayAlignment);
    return array;
}

void set_address(MipmappedArray& array, Context& context, std::uint64_t address) {
    array.context = &context;
    array.address = address;
    for (const auto& level : array.levels) {
        level->context = &context;
        level->address = address;
        address += round_up(level->layout.bytes, kGranule);
    }
}

}  // namespace simgpu
