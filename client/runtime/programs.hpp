#pragma once

#include <string>

namespace cgpu::runtime {

/// The two programs of the container runtime, wherever they are installed: PREFIX/bin/cgpu-runtime and
/// PREFIX/lib/cgpu/cgpu-runtime-managed. Absolute paths.
[[nodiscard]] std::string runtime_program();
[[nodiscard]] std::string managed_program();

}  // namespace cgpu::runtime
