#pragma once

#include <cstdint>

namespace cgpu::front {

/// About how many bytes of device memory the code in an image takes: a cubin's by its ELF headers, with the
/// variables that have no place in the file; a fat binary's as its header says, up to 64 MiB; a text's (PTX)
/// by its length. What a text or a fat binary declares beyond that can't be seen. `image`: as
/// cuModuleLoadData takes it, not null; no more of it is read than the driver reads.
std::uint64_t image_size(const void* image);

/// The same of a file; 0 where it can't be read (the driver will say so).
std::uint64_t image_file_size(const char* path);

}  // namespace cgpu::front
