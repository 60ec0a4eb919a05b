#pragma once

#include "tests/sim/device/layout/process_entry.hpp"

namespace simgpu {

/// What /proc says about the calling process.
ProcessEntry own_identity();

/// The process's pid as the calling process sees it: the recorded one where both share a pid namespace, else
/// what a search of /proc finds. @return 0 if it can't be seen from here (any more).
int pid_seen_from_here(const ProcessEntry& process);

}  // namespace simgpu
