#pragma once

#include <vector>

#include "daemon/config/config.hpp"
#include "daemon/config/entry.hpp"

namespace cgpu::config {

/// Applies the entries one after another, so that later ones win. Every invalid entry is added to `problems`,
/// overridden or not.
[[nodiscard]] Config validate(const std::vector<Entry>& entries, Problems& problems);

}  // namespace cgpu::config
