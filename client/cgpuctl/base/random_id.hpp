#pragma once

#include <string>

#include "client/node/values/client_error.hpp"

namespace cgpu::cgpuctl {

/// 128 random bits in hex: the first 12 characters are as unique as a container's short id.
[[nodiscard]] client::Result<std::string> random_id();

}  // namespace cgpu::cgpuctl
