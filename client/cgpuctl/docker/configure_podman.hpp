#pragma once

#include <string>

#include "client/cgpuctl/base/verb.hpp"

namespace cgpu::cgpuctl {

/// Registers the runtime `cgpu` (`program`) with Podman, for all users of the machine, or undoes it. Error:
/// not_authorized, failed.
[[nodiscard]] Result<void> configure_podman(const Input& input, const std::string& program,
                                            Terminal& terminal);

}  // namespace cgpu::cgpuctl
