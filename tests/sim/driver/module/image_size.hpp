#pragma once

#include <cstdint>

namespace simgpu {

/// Bytes of a module's image in memory: a fat binary (or its wrapper), an ELF object, or else text that ends
/// with a zero.
std::uint64_t image_size(const void* image);

}  // namespace simgpu
