#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cgpu::cgpuctl::doctor {

/// The id of the instance whose link is mounted, by the text of a /proc/PID/mountinfo; empty: none is.
[[nodiscard]] std::optional<std::string> instance_of_link(std::string_view mountinfo);

}  // namespace cgpu::cgpuctl::doctor
