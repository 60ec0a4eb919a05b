#pragma once

#include <string>

#include "client/node/values/client_error.hpp"

namespace cgpu::cgpuctl {

/// The path of cgpu-runtime, which is installed beside cgpuctl. Error (failed): it isn't.
[[nodiscard]] client::Result<std::string> runtime_program();

}  // namespace cgpu::cgpuctl
