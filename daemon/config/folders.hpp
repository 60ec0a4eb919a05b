#pragma once

#include <vector>

#include "daemon/config/config.hpp"
#include "daemon/config/entry.hpp"

namespace cgpu::config {

/// Adds a problem where a folder of cgpud's is the root of all, or one with another of its folders, or lies
/// in one: cgpud makes, removes and gives away what is in each, and would find what isn't its own. The links
/// of this machine are followed.
void check_folders(const Config& config, const std::vector<Entry>& entries, Problems& problems);

}  // namespace cgpu::config
