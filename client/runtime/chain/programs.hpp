#pragma once

#include <string>

namespace cgpu::runtime {

/// The two programs of the container runtime, wherever they are installed: PREFIX/bin/cgpu-runtime and
/// PREFIX/lib/cgpu/cgpu-runtime-managed. Absolute paths.
[[nodiscard]] std::string runtime_program();
[[nodiscard]] std::string managed_program();

/// PREFIX/lib/cgpu/runtimes: links to cgpu-runtime, with the names of low-level runtimes.
[[nodiscard]] std::string low_level_folder();

}  // namespace cgpu::runtime
