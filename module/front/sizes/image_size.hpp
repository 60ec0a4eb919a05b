#pragma once

#include <cstdint>

namespace cgpu::front {

/// The approximate device memory of the code in an image, in bytes: of a cubin by its ELF headers, with the
/// variables that have no place in the file; of a fat binary by its header, up to 64 MiB; of a text (PTX) by
/// its length. Further memory that a text or a fat binary declares can't be seen. `image`: as
/// cuModuleLoadData takes it, not null; no more of it is read than the driver reads.
std::uint64_t image_size(const void* image);

/// The same for a file; 0 if it can't be read (the driver will report that).
std::uint64_t image_file_size(const char* path);

}  // namespace cgpu::front
