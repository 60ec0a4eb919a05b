#pragma once

#include <optional>
#include <string>

#include "client/cgpuctl/doctor/base/finding.hpp"

namespace cgpu::cgpuctl::doctor {

/// What `cgpud --check` printed, and its exit status.
struct SelfCheck {
    int status = 0;
    std::string said;
};

/// Empty: it isn't installed or can't be run. `running`: cgpud is, so it has a good configuration from
/// before.
[[nodiscard]] Findings judge_self_check(const std::optional<SelfCheck>& check, bool running);

}  // namespace cgpu::cgpuctl::doctor
