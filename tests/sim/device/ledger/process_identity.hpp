#pragma once

#include "tests/sim/device/layout/process_entry.hpp"

namespace simgpu {

/// What /proc says about the calling process.
ProcessEntry own_identity();

/// Returns the process's pid as the calling process sees it: the recorded one where both share a pid
/// namespace, otherwise the result of a search of /proc. @return 0 if the caller cannot see the process (any
/// more).
int pid_seen_from_here(const ProcessEntry& process);

}  // namespace simgpu
