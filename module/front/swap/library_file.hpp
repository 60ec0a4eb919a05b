#pragma once

namespace cgpu::front {

/// The fault of a file that is to be loaded into this process; null: none was found. The loader maps what the
/// file's headers say without checking that the file is long enough: a truncated file would end the process
/// with SIGBUS.
const char* fault_of_library(const char* path);

}  // namespace cgpu::front
