#pragma once

namespace cgpu::front {

/// What is wrong with a file that is to be loaded into this process; null: nothing that shows. The loader
/// maps what the file's headers say without asking whether the file has it: a file that was cut off would end
/// the process with SIGBUS.
const char* fault_of_library(const char* path);

}  // namespace cgpu::front
