#pragma once

#include <vector>

#include "daemon/config/config.hpp"
#include "daemon/config/entry.hpp"

namespace cgpu::config {

/// Percentages that are no whole slices of a GPU with the configured max_inst: a limit below one slice, by
/// which nobody gets an instance there, and a profile that would be refused there. GPUs with a max_inst of
/// their own aren't looked at: there a percentage may well be meant for others only.
[[nodiscard]] Problems odd_percentages(const Config& config, const std::vector<Entry>& entries);

}  // namespace cgpu::config
