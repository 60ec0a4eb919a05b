#pragma once

#include <string>

#include "client/cgpuctl/smi/view.hpp"

namespace cgpu::cgpuctl::smi {

/// The tables that cgpu-smi prints without options: GPUs, and instances. 79 columns.
[[nodiscard]] std::string overview(const View* before, const View& now);

}  // namespace cgpu::cgpuctl::smi
