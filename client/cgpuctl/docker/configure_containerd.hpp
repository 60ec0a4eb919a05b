#pragma once

#include <string>

#include "client/cgpuctl/base/verb.hpp"

namespace cgpu::cgpuctl {

/// Registers the runtime `cgpu` (`program`) in containerd's configuration, or undoes it. Error:
/// not_authorized, failed, refused (containerd_config.hpp).
[[nodiscard]] Result<void> configure_containerd(const Input& input, const std::string& program,
                                                Terminal& terminal);

}  // namespace cgpu::cgpuctl
