#pragma once

#include <array>
#include <string_view>

namespace cgpu::cgpuctl {

/// The types of cgpud's events, those first that are asked for most. cgpud(8) says what each tells.
inline constexpr std::array<std::string_view, 30> kEventTypes = {
    "instance-admitted",  "instance-refused",   "instance-resumed",
    "instance-ended",     "queue-entered",      "queue-left",
    "ends-soon",          "time-over",          "container-unmanaged",
    "allocation-refused", "setting-changed",    "escape-found",
    "escape-ended",       "report-doubted",     "driver-unreachable",
    "job-begun",          "job-back",           "job-ended",
    "gpu-found",          "gpu-lost",           "gpu-error",
    "call-denied",        "change-refused",     "mode-switch-begun",
    "mode-changed",       "mode-switch-failed", "daemon-started",
    "daemon-stopped",     "configuration-read", "configuration-refused",
};

}  // namespace cgpu::cgpuctl
