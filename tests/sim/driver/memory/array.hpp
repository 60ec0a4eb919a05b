#pragma once

#include <memory>
#include <vector>

#include "tests/sim/driver/base/tagged.hpp"
#include "tests/sim/driver/memory/array_layout.hpp"

namespace simgpu {

class Context;

/// A CUDA array, or one level of a mipmapped one.
struct Array : Tagged<0x7961727261ULL> {
    CUDA_ARRAY3D_DESCRIPTOR descriptor{};
    ArrayLayout layout{};
    Context* context = nullptr;
    std::uint64_t address = 0;  ///< 0: nothing is mapped (CUDA_ARRAY3D_DEFERRED_MAPPING).
    bool is_level = false;      ///< Belongs to a mipmapped array.
};

/// All levels lie in one allocation.
struct MipmappedArray : Tagged<0x70616d70696dULL> {
    CUDA_ARRAY3D_DESCRIPTOR descriptor{};
    Context* context = nullptr;
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
    std::vector<std::unique_ptr<Array>> levels;
};

/// The levels of a mipmapped array without memory; set_address() adds it.
/// @param level_count as the program requested; at most as many as there are down to 1x1x1.
/// @return nullptr and the reason if the descriptor is not valid.
std::unique_ptr<MipmappedArray> make_mipmapped_array(const CUDA_ARRAY3D_DESCRIPTOR& descriptor,
                                                     unsigned int level_count, CUresult& result);
void set_address(MipmappedArray& array, Context& context, std::uint64_t address);

}  // namespace simgpu
