#pragma once

#include <chrono>
#include <functional>

#include "client/cgpuctl/doctor/base/finding.hpp"

namespace cgpu::cgpuctl::doctor {

/// What the check `name` finds. It runs in a process of its own, which is killed at the deadline with all
/// that it has started: a file system that is gone, or a program that doesn't answer, holds up no other
/// check. A check that doesn't end, or crashes, is a finding itself.
[[nodiscard]] Findings in_time(std::chrono::milliseconds deadline, const char* name,
                               const std::function<Findings()>& check);

}  // namespace cgpu::cgpuctl::doctor
