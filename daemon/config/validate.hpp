#pragma once

#include <vector>

#include "daemon/config/config.hpp"
#include "daemon/config/entry.hpp"

namespace cgpu::config {

/// Takes the entries over one after another, so that later ones win. Every entry that is wrong is added to
/// `problems`, overridden or not.
[[nodiscard]] Config validate(const std::vector<Entry>& entries, Problems& problems);

}  // namespace cgpu::config
