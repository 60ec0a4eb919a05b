#pragma once

#include "client/cgpuctl/base/verb.hpp"

namespace cgpu::cgpuctl {

/// Registers the runtime `cgpu` with Docker, or undoes it, in the file that the running dockerd reads. That
/// is told to read it again, and asked what it has in force then. Error: not_authorized, failed; refused:
/// dockerd wouldn't take it, and the file is as it was.
[[nodiscard]] Result<void> configure_docker(const Input& input, Terminal& terminal);

}  // namespace cgpu::cgpuctl
